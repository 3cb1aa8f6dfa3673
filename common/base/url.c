#include "common/base/url.h"

#include <ctype.h>
#include <string.h>

#include "common/base/text.h"

enum {
	PORT_MAX = 65535
};

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/* Decodes size bytes; false for a broken percent sign, a NUL byte or a target that is too small. */
static bool decode(char *target, size_t target_size, const char *source, size_t size)
{
	size_t length = 0;

	for (size_t i = 0; i < size; i++) {
		char c = source[i];

		if (c == '%') {
			int high = i + 2 < size ? hex_digit(source[i + 1]) : -1;
			int low = i + 2 < size ? hex_digit(source[i + 2]) : -1;

			if (high < 0 || low < 0)
				return false;
			c = (char)(high * 16 + low);
			i += 2;
		}
		if (c == '\0' || length + 1 >= target_size)
			return false;
		target[length++] = c;
	}
	target[length] = '\0';
	return true;
}

static bool parse_credentials(const char *text, size_t size, struct url *url)
{
	const char *colon = memchr(text, ':', size);
	size_t user_size = colon == NULL ? size : (size_t)(colon - text);

	if (!decode(url->user, sizeof(url->user), text, user_size))
		return false;
	return colon == NULL ||
	       decode(url->password, sizeof(url->password), colon + 1, size - user_size - 1);
}

static bool parse_port(const char *text, size_t size, struct url *url)
{
	char digits[8];
	uint64_t port = 0;

	if (size >= sizeof(digits))
		return false;
	memcpy(digits, text, size);
	digits[size] = '\0';
	if (!text_parse_uint(digits, 1, PORT_MAX, &port))
		return false;
	url->port = (uint16_t)port;
	return true;
}

static bool parse_host(const char *text, size_t size, struct url *url)
{
	const char *end = text + size;
	const char *host_end = NULL;

	if (size > 0 && text[0] == '[') {
		host_end = memchr(text, ']', size);
		if (host_end == NULL)
			return false;
		text++;
	} else {
		host_end = memchr(text, ':', size);
		if (host_end == NULL)
			host_end = end;
	}
	if (!decode(url->host, sizeof(url->host), text, (size_t)(host_end - text)))
		return false;
	if (host_end < end && *host_end == ']')
		host_end++;
	if (host_end == end)
		return url->host[0] != '\0';
	return *host_end == ':' && url->host[0] != '\0' &&
	       parse_port(host_end + 1, (size_t)(end - host_end - 1), url);
}

static bool parse_authority(const char *text, size_t size, struct url *url)
{
	const char *at = NULL;

	/* The last one: an @ in a password should be encoded, but often is not. */
	for (size_t i = 0; i < size; i++)
		if (text[i] == '@')
			at = text + i;
	if (at == NULL)
		return parse_host(text, size, url);
	return parse_credentials(text, (size_t)(at - text), url) &&
	       parse_host(at + 1, size - (size_t)(at - text) - 1, url);
}

bool url_parse(const char *text, struct url *url_out)
{
	const char *colon = strstr(text, "://");

	memset(url_out, 0, sizeof(*url_out));
	if (colon == NULL || colon == text || (size_t)(colon - text) >= sizeof(url_out->scheme))
		return false;
	memcpy(url_out->scheme, text, (size_t)(colon - text));
	const char *authority = colon + strlen("://");
	size_t authority_size = strcspn(authority, "/?");
	const char *rest = authority + authority_size;
	if (!parse_authority(authority, authority_size, url_out))
		return false;
	if (*rest == '/') {
		size_t path_size = strcspn(rest + 1, "?");

		url_out->has_path = true;
		if (!decode(url_out->path, sizeof(url_out->path), rest + 1, path_size))
			return false;
		rest += 1 + path_size;
	}
	return *rest == '\0' || text_copy(url_out->query, sizeof(url_out->query), rest + 1);
}

bool url_find_query(const struct url *url, const char *key, char *value, size_t value_size)
{
	size_t key_length = strlen(key);
	const char *part = url->query;

	while (*part != '\0') {
		size_t size = strcspn(part, "&");

		if (size > key_length && part[key_length] == '=' &&
			memcmp(part, key, key_length) == 0)
			return decode(
				value, value_size, part + key_length + 1, size - key_length - 1);
		part += size + (part[size] == '&' ? 1 : 0);
	}
	return false;
}

bool url_append_encoded(char *target, size_t target_size, const char *text)
{
	size_t length = strlen(target);
	bool fits = true;

	for (const char *c = text; *c != '\0' && fits; c++) {
		bool is_safe = isalnum((unsigned char)*c) || strchr("._-", *c) != NULL;

		fits = is_safe ? text_format(target + length, target_size - length, "%c", *c)
			       : text_format(target + length, target_size - length, "%%%02X",
					 (unsigned int)(unsigned char)*c);
		length += strlen(target + length);
	}
	return fits;
}
