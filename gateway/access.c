#include "gateway/access.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/base/text_file.h"
#include "common/io/signature.h"
#include "gateway/counts.h"
#include "gateway/respond.h"

enum {
	TOKEN_MAX = 256,
	NAME_SIZE = 64 + 1,
	LINE_SIZE = 64 + 1 + 64 + 2, /* longer than any good one */
	BURST_SECONDS = 2,           /* of its rate a caller may ask for at once */
};

/* A token bucket: it holds thousandths of a request. */
struct caller {
	char name[NAME_SIZE];
	char digest[SIGNATURE_HEX_SIZE];
	uint64_t filled_ms;
	uint64_t millis;
};

struct access {
	char *tokens_file;
	uint64_t rate;          /* requests a second of one caller */
	struct caller *callers; /* without tokens there is one: everybody */
	size_t count;
};

/* "name:digest" */
static bool read_caller(char *line, struct caller *caller)
{
	char *colon = strchr(line, ':');

	if (colon == NULL)
		return false;
	*colon = '\0';
	return text_is_key(line, strlen(line), NAME_SIZE - 1) && signature_is_hex(colon + 1) &&
	       text_copy(caller->name, sizeof(caller->name), line) &&
	       text_copy(caller->digest, sizeof(caller->digest), colon + 1);
}

/* Blank lines and those that begin with # are skipped.  0: all is well, else the wrong line. */
static unsigned int read_callers(FILE *file, struct caller *callers, size_t *count_out)
{
	char line[LINE_SIZE];

	for (unsigned int number = 1; text_file_line(file, line, sizeof(line)); number++) {
		if (line[0] == '\0' || line[0] == '#')
			continue;
		if (*count_out == TOKEN_MAX || !read_caller(line, &callers[*count_out]))
			return number;
		*count_out += 1;
	}
	return 0;
}

enum result access_reload(struct access *access, struct error *error)
{
	size_t count = 0;

	if (access->tokens_file == NULL)
		return RESULT_OK;
	FILE *file = fopen(access->tokens_file, "re");
	if (file == NULL)
		return error_set(RESULT_PERMANENT, error,
			"LAPSE_API_TOKENS_FILE: %s cannot be read", access->tokens_file);
	struct caller *callers = memory_allocate_array(TOKEN_MAX, sizeof(*callers));
	unsigned int wrong_line = read_callers(file, callers, &count);
	(void)fclose(file);
	enum result result = RESULT_OK;
	if (wrong_line > 0)
		result = error_set(RESULT_PERMANENT, error,
			"LAPSE_API_TOKENS_FILE: line %u of %s is not name:sha256, or one too many",
			wrong_line, access->tokens_file);
	else if (count == 0)
		result = error_set(RESULT_PERMANENT, error,
			"LAPSE_API_TOKENS_FILE: %s has no token", access->tokens_file);
	if (result != RESULT_OK) {
		free(callers);
		return result;
	}
	free(access->callers);
	access->callers = callers;
	access->count = count;
	return RESULT_OK;
}

enum result access_create(
	const char *tokens_file, uint64_t rate, struct access **access_out, struct error *error)
{
	struct access *access = memory_allocate(sizeof(*access));

	access->tokens_file = memory_copy_text(tokens_file);
	access->rate = rate;
	access->callers = memory_allocate_array(1, sizeof(*access->callers));
	access->count = 1;
	enum result result = access_reload(access, error);
	if (result != RESULT_OK)
		access_destroy(&access);
	*access_out = access;
	return result;
}

void access_destroy(struct access **access)
{
	if (*access == NULL)
		return;
	free((*access)->callers);
	free((*access)->tokens_file);
	free(*access);
	*access = NULL;
}

/* Every digest is compared, so that the time tells nothing. */
static struct caller *find_caller(struct access *access, const struct httpd_request *request)
{
	static const char scheme[] = "Bearer ";
	const char *header = httpd_header(request, "Authorization");
	char digest[SIGNATURE_HEX_SIZE];
	struct caller *found = NULL;

	if (access->tokens_file == NULL)
		return &access->callers[0];
	if (header == NULL || strncasecmp(header, scheme, strlen(scheme)) != 0)
		return NULL;
	const char *token = header + strlen(scheme);
	signature_sha256_hex(digest, token, strlen(token));
	for (size_t i = 0; i < access->count; i++)
		if (signature_equals(digest, access->callers[i].digest, SIGNATURE_HEX_SIZE - 1))
			found = &access->callers[i];
	return found;
}

static bool take_from_bucket(struct caller *caller, uint64_t rate)
{
	uint64_t now_ms = clock_now_ms();
	uint64_t full = rate * BURST_SECONDS * 1000;

	caller->millis += (now_ms - caller->filled_ms) * rate;
	caller->filled_ms = now_ms;
	if (caller->millis > full)
		caller->millis = full;
	if (caller->millis < 1000)
		return false;
	caller->millis -= 1000;
	return true;
}

bool access_admit(
	struct access *access, const struct httpd_request *request, struct httpd_answer *answer)
{
	struct caller *caller = find_caller(access, request);

	if (caller == NULL) {
		counts_add_auth_failure(COUNTS_AUTH_TOKEN);
		httpd_add_header(answer, "WWW-Authenticate", "Bearer");
		respond_problem(
			answer, 401, "no_token", "a bearer token of this service is needed");
		return false;
	}
	if (!take_from_bucket(caller, access->rate)) {
		httpd_add_header(answer, "Retry-After", "1");
		respond_problem(answer, 429, "too_many_requests", "this caller asks too often");
		return false;
	}
	return true;
}
