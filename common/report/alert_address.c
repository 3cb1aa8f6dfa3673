/* Addresses of targets for logs and people: without what may be a credential. */
#include <string.h>

#include "common/base/text.h"
#include "common/report/alert_target.h"

enum {
	HIDE_MIN = 6 /* shorter texts are no credentials, and would hide half of every sentence */
};

/* The part of a path that is the same for everybody; behind it is the credential. */
static const char *const known_paths[] = { "/open-apis/bot/v2/hook/", "/services/", "/robot/send",
	"/cgi-bin/webhook/send", "/api/v2/alerts" };

static const char *find_host(const char *url)
{
	const char *host = strstr(url, "://");
	const char *slash;
	const char *at;

	host = host == NULL ? url : host + strlen("://");
	slash = host + strcspn(host, "/?");
	at = memchr(host, '@', (size_t)(slash - host));
	return at == NULL ? host : at + 1;
}

static size_t measure_known_path(const struct alert_target *target, const char *path)
{
	size_t size = strcspn(path, "?");

	if (target->type == ALERT_TYPE_ALERTMANAGER)
		return size; /* its credential is in front of the host, or a header */
	for (size_t i = 0; i < ARRAY_LENGTH(known_paths); i++)
		if (text_starts_with(path, known_paths[i]))
			return strlen(known_paths[i]);
	return 1;
}

/* "?access_token=***&b=***" */
static void append_query(char address[ALERT_ADDRESS_SIZE], const char *query)
{
	while (*query == '?' || *query == '&') {
		size_t name = 1 + strcspn(query + 1, "=&");
		size_t used = strlen(address);

		(void)text_format(address + used, ALERT_ADDRESS_SIZE - used, "%.*s%s", (int)name,
			query, query[name] == '=' ? "=***" : "");
		query += name;
		query += strcspn(query, "&");
	}
}

void alert_target_format_address(
	const struct alert_target *target, char address[ALERT_ADDRESS_SIZE])
{
	const char *scheme = strstr(target->url, "://");
	const char *host = find_host(target->url);
	const char *path = host + strcspn(host, "/?");
	size_t scheme_size = scheme == NULL ? 0 : (size_t)(scheme - target->url) + strlen("://");
	size_t known = *path == '/' ? measure_known_path(target, path) : 0;
	size_t whole = strcspn(path, "?");

	(void)text_format(address, ALERT_ADDRESS_SIZE, "%.*s%.*s%.*s%s", (int)scheme_size,
		target->url, (int)(path - host), host, (int)known, path,
		known < whole ? "***" : "");
	append_query(address, path + whole);
}

static void hide(char *text, const char *secret, size_t size)
{
	if (size < HIDE_MIN)
		return;
	for (char *c = text; *c != '\0'; c++)
		if (strncmp(c, secret, size) == 0)
			memset(c, '*', size);
}

/* What stands before the host, the path behind what everybody knows, and the values behind it. */
static void hide_address(char *text, const struct alert_target *target)
{
	const char *begin = strstr(target->url, "://");
	const char *host = find_host(target->url);
	const char *part = host + strcspn(host, "/?");

	begin = begin == NULL ? target->url : begin + strlen("://");
	if (host != begin)
		hide(text, begin, (size_t)(host - begin) - 1);
	if (*part == '/')
		part += measure_known_path(target, part);
	while (*part != '\0') {
		size_t size = strcspn(part, "/?&=");
		bool is_name = part > target->url && part[size] == '=' &&
			       (part[-1] == '?' || part[-1] == '&');

		if (!is_name)
			hide(text, part, size);
		part += size;
		part += *part == '\0' ? 0 : 1;
	}
}

void alert_target_hide(const struct alert_target *target, char *text)
{
	hide_address(text, target);
	if (target->secret != NULL)
		hide(text, target->secret, strlen(target->secret));
	if (target->token != NULL)
		hide(text, target->token, strlen(target->token));
}
