#include "console/csrf.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "common/base/clock.h"
#include "common/base/text.h"
#include "common/io/signature.h"

enum {
	HOUR_MS = 3600000,
	SIGNED_SIZE = 4096,
	HOUR_DIGITS_MAX = 12,
};

/* Is the item one of those in a list with blanks or commas between? */
static bool is_listed(const char *list, const char *item)
{
	size_t size = strlen(item);

	for (const char *place = list == NULL ? "" : list; *place != '\0';) {
		size_t length = strcspn(place, ", ");

		if (length == size && strncasecmp(place, item, size) == 0)
			return true;
		place += length + strspn(place + length, ", ");
	}
	return false;
}

/* "https://ops.example:8443" is from the host "ops.example:8443". */
static bool is_same_host(const char *origin, const char *host)
{
	const char *start = strstr(origin, "://");

	return start != NULL && host != NULL && host[0] != '\0' && strcasecmp(start + 3, host) == 0;
}

bool csrf_check_headers(const struct csrf_headers *headers, char words[CSRF_WORDS_SIZE])
{
	words[0] = '\0';
	if (headers->fetch_site != NULL) {
		if (text_equals(headers->fetch_site, "same-origin") ||
			text_equals(headers->fetch_site, "none"))
			return true;
		(void)text_format(words, CSRF_WORDS_SIZE,
			"Sec-Fetch-Site is \"%.40s\": the request comes from another site. "
			"Open the page of the console itself and send the form from there.",
			headers->fetch_site);
		return false;
	}
	if (headers->origin != NULL) {
		if (is_same_host(headers->origin, headers->host) ||
			is_listed(headers->origins, headers->origin))
			return true;
		(void)text_format(words, CSRF_WORDS_SIZE,
			"Origin is \"%.100s\" and Host is \"%.100s\". Behind a proxy, let it pass "
			"the name on (nginx: proxy_set_header Host $http_host;), or add the origin "
			"to LAPSE_CONSOLE_ORIGINS.",
			headers->origin, headers->host == NULL ? "" : headers->host);
		return false;
	}
	if (headers->is_bearer)
		return true;
	(void)text_format(words, CSRF_WORDS_SIZE,
		"there is neither Sec-Fetch-Site nor Origin, which only requests with a bearer "
		"token may leave out. A proxy must not remove them (nginx: proxy_set_header Origin "
		"$http_origin;).");
	return false;
}

/* User and path hold no line ends, so that no two of these texts are the same. */
void csrf_make_token(char token_out[CSRF_TOKEN_SIZE], const char *secret, const char *user,
	const char *path, uint64_t hour)
{
	char text[SIGNED_SIZE];
	char digest[SIGNATURE_HEX_SIZE];

	if (!text_format(text, sizeof(text), "form\n%s\n%s\n%" PRIu64, user, path, hour))
		text[0] = '\0'; /* too long a path: a token that fits no form */
	signature_hex(digest, secret, strlen(secret), text, strlen(text));
	(void)text_format(token_out, CSRF_TOKEN_SIZE, "%" PRIu64 ".%s",
		text[0] == '\0' ? UINT64_C(0) : hour, digest);
}

uint64_t csrf_hour_now(void)
{
	return clock_epoch_ms() / HOUR_MS;
}

static bool read_hour(const char *token, uint64_t *hour_out)
{
	size_t length = strcspn(token, ".");
	char digits[HOUR_DIGITS_MAX];

	if (length == 0 || length >= sizeof(digits) || token[length] != '.')
		return false;
	memcpy(digits, token, length);
	digits[length] = '\0';
	return text_parse_uint(digits, 1, UINT32_MAX, hour_out);
}

bool csrf_check_token(const char *token, const char *secret, const char *user, const char *path,
	uint64_t hour, char words[CSRF_WORDS_SIZE])
{
	char expected[CSRF_TOKEN_SIZE];
	uint64_t made = 0;

	words[0] = '\0';
	if (token == NULL || !read_hour(token, &made)) {
		(void)text_copy(words, CSRF_WORDS_SIZE,
			"the form carries no token: load the page again and send it from there");
		return false;
	}
	csrf_make_token(expected, secret, user, path, made);
	if (strlen(token) != strlen(expected) ||
		!signature_equals(token, expected, strlen(expected))) {
		(void)text_copy(words, CSRF_WORDS_SIZE,
			"the token of the form was made for another user, form or installation "
			"(LAPSE_CONSOLE_SECRET must be the same on all replicas): load the page "
			"again");
		return false;
	}
	/* Another replica's clock may be a little ahead. */
	if (made > hour + 1 || made + CSRF_HOURS < hour) {
		(void)text_copy(words, CSRF_WORDS_SIZE,
			"the form is older than 12 hours: load the page again");
		return false;
	}
	return true;
}
