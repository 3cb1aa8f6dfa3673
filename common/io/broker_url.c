#include "common/io/broker_url.h"

#include <string.h>

#include "common/base/text.h"

enum {
	PORT_PLAIN = 5672,
	PORT_TLS = 5671,
};

/* Where Debian and its kin keep the certificates that the system trusts. */
static const char default_ca_file[] = "/etc/ssl/certs/ca-certificates.crt";

static enum result refuse(struct error *error, const char *what)
{
	return error_set(RESULT_PERMANENT, error, "%s", what);
}

static enum result parse_query(struct broker_url *parsed, struct error *error)
{
	const struct url *url = &parsed->url;

	(void)text_copy(parsed->ca_file, sizeof(parsed->ca_file), default_ca_file);
	if (url->query[0] == '\0')
		return RESULT_OK;
	if (!text_starts_with(url->query, "ca=") || strchr(url->query, '&') != NULL)
		return refuse(error, "the only option behind ? is ca=FILE");
	if (!parsed->is_tls)
		return refuse(error, "ca=FILE needs amqps://");
	if (!url_find_query(url, "ca", parsed->ca_file, sizeof(parsed->ca_file)) ||
		parsed->ca_file[0] == '\0')
		return refuse(error, "ca=FILE is empty or not percent-encoded");
	return RESULT_OK;
}

static void fill_defaults(struct broker_url *parsed)
{
	struct url *url = &parsed->url;

	if (url->user[0] == '\0') {
		(void)text_copy(url->user, sizeof(url->user), "guest");
		(void)text_copy(url->password, sizeof(url->password), "guest");
	}
	if (url->port == 0)
		url->port = parsed->is_tls ? PORT_TLS : PORT_PLAIN;
	/* "amqp://host/" too: nobody means the virtual host without a name. */
	if (url->path[0] == '\0')
		(void)text_copy(url->path, sizeof(url->path), "/");
}

enum result broker_url_parse(const char *text, struct broker_url *url_out, struct error *error)
{
	if (!url_parse(text, &url_out->url))
		return refuse(error, "must be amqp[s]://user:password@host:port/vhost, with other "
				     "characters percent-encoded");
	url_out->is_tls = text_equals(url_out->url.scheme, "amqps");
	if (!url_out->is_tls && !text_equals(url_out->url.scheme, "amqp"))
		return refuse(error, "must begin with amqp:// or amqps://");
	fill_defaults(url_out);
	return parse_query(url_out, error);
}
