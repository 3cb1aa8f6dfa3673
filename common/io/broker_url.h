/*
 * broker_url - amqp[s]://user:pass@host:port/vhost[?ca=FILE] with the defaults of AMQP filled in.
 *
 * A part of broker, pure text.  No error text repeats any part of the URL: it holds a password.
 */
#ifndef COMMON_IO_BROKER_URL_H
#define COMMON_IO_BROKER_URL_H

#include <stdbool.h>

#include "common/base/result.h"
#include "common/base/url.h"

struct broker_url {
	bool is_tls;
	struct url url; /* user and password "guest", port by scheme, path "/" unless given */
	char ca_file[URL_QUERY_SIZE]; /* the system's set unless given */
};

/* PERMANENT: the URL cannot be used; the text says why.  Wipe url_out after use. */
MUST_USE enum result broker_url_parse(
	const char *text, struct broker_url *url_out, struct error *error);

#endif
