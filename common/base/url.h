/*
 * url - takes scheme://user:password@host:port/path?key=value&... apart.
 */
#ifndef COMMON_BASE_URL_H
#define COMMON_BASE_URL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	URL_PART_SIZE = 256,
	URL_QUERY_SIZE = 512
};

/* Percent signs are decoded in user, password and path; "" where a part is missing. */
struct url {
	char scheme[16];
	char user[URL_PART_SIZE];
	char password[URL_PART_SIZE];
	char host[URL_PART_SIZE]; /* without the brackets of an IPv6 address */
	uint16_t port;            /* 0 when missing */
	bool has_path;            /* a slash stands behind the host */
	char path[URL_PART_SIZE]; /* without its first slash */
	char query[URL_QUERY_SIZE];
};

/* false when text is no such URL or a part is too long; url_out is then unusable. */
bool url_parse(const char *text, struct url *url_out);
/* The decoded value of key in the query; false when it is not there. */
bool url_find_query(const struct url *url, const char *key, char *value, size_t value_size);
/* Puts text behind what is in target, with all but [A-Za-z0-9._-] as percent signs; false when it
 * does not fit. */
bool url_append_encoded(char *target, size_t target_size, const char *text);

#endif
