#include "console/access.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/io/password.h"
#include "common/io/signature.h"
#include "console/accounts.h"
#include "console/attempts.h"
#include "console/base64.h"
#include "console/good_pairs.h"
#include "console/network.h"

enum {
	PAIR_SIZE = ROLE_NAME_SIZE + PASSWORD_MAX + 2,
};

/* A hash that no password fits, of the usual cost: a name that is not there takes as long. */
static const char nobody_hash[] =
	"$y$j9T$XXXXXXXXXXXXXXXXXXXXX.$000000000000000000000000000000000000000000/";

struct access {
	char *users_file;
	char *tokens_file;
	struct network proxies;
	bool is_open;
	struct accounts *users;
	struct accounts *tokens;
	struct attempts *attempts;
	struct good_pairs *good_pairs;
};

static enum result read_files(const struct access *access, struct accounts **users,
	struct accounts **tokens, struct error *error)
{
	enum result result = RESULT_OK;

	if (access->users_file != NULL)
		result = accounts_read(ACCOUNTS_KIND_USERS, access->users_file, users, error);
	if (result == RESULT_OK && access->tokens_file != NULL)
		result = accounts_read(ACCOUNTS_KIND_TOKENS, access->tokens_file, tokens, error);
	return result;
}

enum result access_reload(struct access *access, struct error *error)
{
	struct accounts *users = NULL;
	struct accounts *tokens = NULL;
	enum result result = read_files(access, &users, &tokens, error);

	if (result == RESULT_OK) {
		accounts_destroy(&access->users);
		accounts_destroy(&access->tokens);
		access->users = users;
		access->tokens = tokens;
		good_pairs_forget(access->good_pairs);
		return RESULT_OK;
	}
	accounts_destroy(&users);
	accounts_destroy(&tokens);
	return result;
}

enum result access_create(
	const struct access_settings *settings, struct access **access_out, struct error *error)
{
	struct access *access = memory_allocate(sizeof(*access));
	enum result result = RESULT_OK;

	access->users_file = memory_copy_text(settings->users_file);
	access->tokens_file = memory_copy_text(settings->tokens_file);
	access->is_open = settings->is_open;
	attempts_create(&access->attempts);
	good_pairs_create(&access->good_pairs);
	if (!network_parse(settings->trusted_proxies, &access->proxies))
		result = error_set(RESULT_PERMANENT, error,
			"LAPSE_CONSOLE_TRUSTED_PROXIES: is not a list of addresses and ranges");
	if (result == RESULT_OK)
		result = access_reload(access, error);
	if (result != RESULT_OK)
		access_destroy(&access);
	*access_out = access;
	return result;
}

void access_destroy(struct access **access)
{
	if (*access == NULL)
		return;
	accounts_destroy(&(*access)->users);
	accounts_destroy(&(*access)->tokens);
	attempts_destroy(&(*access)->attempts);
	good_pairs_destroy(&(*access)->good_pairs);
	free((*access)->users_file);
	free((*access)->tokens_file);
	free(*access);
	*access = NULL;
}

/* The address before text[end], without blanks around it.  false: it is none. */
static bool take_address(const char *text, size_t end, char address_out[ROLE_ADDRESS_SIZE])
{
	size_t begin = end;

	while (begin > 0 && text[begin - 1] != ',')
		begin--;
	while (begin < end && text[begin] == ' ')
		begin++;
	while (end > begin && text[end - 1] == ' ')
		end--;
	if (end - begin >= ROLE_ADDRESS_SIZE)
		return false;
	memcpy(address_out, text + begin, end - begin);
	address_out[end - begin] = '\0';
	return network_is_address(address_out);
}

/* Each proxy adds, at the end, the address it was called from: the last one that is not ours is
 * the person's.  What stands before it may be invented. */
static void find_address(
	const struct access *access, const struct httpd_request *request, struct identity *identity)
{
	const char *chain = httpd_header(request, "X-Forwarded-For");
	size_t end = chain == NULL ? 0 : strlen(chain);

	httpd_peer(request, identity->address);
	identity->is_proxied = network_has(&access->proxies, identity->address);
	for (bool is_ours = identity->is_proxied; is_ours && chain != NULL;
		is_ours = network_has(&access->proxies, identity->address)) {
		char address[ROLE_ADDRESS_SIZE];

		if (!take_address(chain, end, address))
			return;
		memcpy(identity->address, address, sizeof(address));
		while (end > 0 && chain[end - 1] != ',')
			end--;
		if (end == 0)
			return;
		end--;
	}
}

static void become(struct identity *identity, const struct account *account, enum role_auth auth)
{
	(void)text_copy(identity->name, sizeof(identity->name), account->name);
	identity->role = account->role;
	identity->auth = auth;
}

/* "name:password" */
static enum access_verdict check_pair(
	struct access *access, char pair[PAIR_SIZE], struct identity *identity)
{
	char *colon = strchr(pair, ':');
	bool is_right = false;

	if (colon == NULL)
		return ACCESS_VERDICT_WRONG;
	*colon = '\0';
	if (!text_is_key(pair, strlen(pair), ROLE_NAME_SIZE - 1))
		return ACCESS_VERDICT_WRONG;
	(void)text_copy(identity->name, sizeof(identity->name), pair);
	const struct account *user = accounts_find(access->users, pair);
	bool has_hash = user != NULL && !text_equals(user->proof, "*");
	if (has_hash && good_pairs_has(access->good_pairs, pair, colon + 1)) {
		is_right = true;
	} else if (password_fits(has_hash ? user->proof : nobody_hash, colon + 1) && has_hash) {
		good_pairs_add(access->good_pairs, pair, colon + 1);
		is_right = true;
	}
	if (!is_right)
		return ACCESS_VERDICT_WRONG;
	become(identity, user, ROLE_AUTH_BASIC);
	return ACCESS_VERDICT_WELCOME;
}

static enum access_verdict check_password(
	struct access *access, const char *pair_text, struct identity *identity)
{
	char pair[PAIR_SIZE] = "";
	enum access_verdict verdict = ACCESS_VERDICT_WRONG;

	if (base64_decode(pair_text, pair, sizeof(pair)))
		verdict = check_pair(access, pair, identity);
	memory_wipe(pair, sizeof(pair));
	return verdict;
}

/* Every digest is compared, so that the time tells nothing. */
static enum access_verdict check_token(
	const struct access *access, const char *token, struct identity *identity)
{
	char digest[SIGNATURE_HEX_SIZE];
	const struct account *found = NULL;

	identity->auth = ROLE_AUTH_TOKEN;
	signature_sha256_hex(digest, token, strlen(token));
	for (size_t i = 0; i < accounts_count(access->tokens); i++) {
		const struct account *account = accounts_at(access->tokens, i);

		if (signature_equals(digest, account->proof, SIGNATURE_HEX_SIZE - 1))
			found = account;
	}
	if (found == NULL)
		return ACCESS_VERDICT_WRONG;
	become(identity, found, ROLE_AUTH_TOKEN);
	return ACCESS_VERDICT_WELCOME;
}

static enum access_verdict check_header(
	struct access *access, const char *header, struct identity *identity)
{
	static const char basic[] = "Basic ";
	static const char bearer[] = "Bearer ";

	if (strncasecmp(header, basic, strlen(basic)) == 0)
		return check_password(access, header + strlen(basic), identity);
	if (strncasecmp(header, bearer, strlen(bearer)) == 0)
		return check_token(access, header + strlen(bearer), identity);
	return ACCESS_VERDICT_WRONG;
}

static enum access_verdict check_proxy_user(
	const struct access *access, const char *name, struct identity *identity)
{
	const struct account *user = accounts_find(access->users, name);

	identity->auth = ROLE_AUTH_PROXY;
	if (text_is_key(name, strlen(name), ROLE_NAME_SIZE - 1))
		(void)text_copy(identity->name, sizeof(identity->name), name);
	if (user == NULL)
		return ACCESS_VERDICT_STRANGER;
	become(identity, user, ROLE_AUTH_PROXY);
	return ACCESS_VERDICT_WELCOME;
}

enum access_verdict access_identify(struct access *access, const struct httpd_request *request,
	struct identity *identity_out, uint64_t *wait_ms_out)
{
	static const struct account anybody = { .name = "nobody", .role = ROLE_ADMIN };
	const char *proxy_user = httpd_header(request, "X-Remote-User");
	const char *header = httpd_header(request, "Authorization");

	*identity_out = (struct identity){ .role = ROLE_VIEWER };
	find_address(access, request, identity_out);
	if (access->is_open) {
		become(identity_out, &anybody, ROLE_AUTH_BASIC);
		return ACCESS_VERDICT_WELCOME;
	}
	if (proxy_user != NULL && proxy_user[0] != '\0' && identity_out->is_proxied)
		return check_proxy_user(access, proxy_user, identity_out);
	if (header == NULL)
		return ACCESS_VERDICT_ASK;
	*wait_ms_out = attempts_wait_ms(access->attempts, identity_out->address);
	if (*wait_ms_out > 0)
		return ACCESS_VERDICT_WAIT;
	enum access_verdict verdict = check_header(access, header, identity_out);
	if (verdict == ACCESS_VERDICT_WRONG)
		attempts_add(access->attempts, identity_out->address);
	return verdict;
}
