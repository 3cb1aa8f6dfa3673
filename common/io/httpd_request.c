#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

#include <microhttpd.h>

#include "common/base/text.h"
#include "common/io/httpd.h"

struct visitor {
	void (*take)(void *context, const char *name, const char *value);
	void *context;
};

const char *httpd_header(const struct httpd_request *request, const char *name)
{
	return MHD_lookup_connection_value(request->library_request, MHD_HEADER_KIND, name);
}

const char *httpd_query(const struct httpd_request *request, const char *name)
{
	const char *value = NULL;

	if (MHD_lookup_connection_value_n(request->library_request, MHD_GET_ARGUMENT_KIND, name,
		    strlen(name), &value, NULL) != MHD_YES)
		return NULL;
	return value == NULL ? "" : value;
}

static enum MHD_Result visit(
	void *context, enum MHD_ValueKind kind, const char *name, const char *value)
{
	const struct visitor *visitor = context;

	(void)kind;
	visitor->take(visitor->context, name, value == NULL ? "" : value);
	return MHD_YES;
}

void httpd_each_query(const struct httpd_request *request,
	void (*take)(void *context, const char *name, const char *value), void *context)
{
	struct visitor visitor = { take, context };

	(void)MHD_get_connection_values(
		request->library_request, MHD_GET_ARGUMENT_KIND, visit, &visitor);
}

void httpd_peer(const struct httpd_request *request, char peer_out[HTTPD_PEER_SIZE])
{
	static const char mapped[] = "::ffff:";
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(
		request->library_request, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
	const struct sockaddr *address = info == NULL ? NULL : info->client_addr;
	char text[HTTPD_PEER_SIZE] = "";
	const void *bytes = NULL;

	peer_out[0] = '\0';
	if (address == NULL)
		return;
	if (address->sa_family == AF_INET)
		bytes = &((const struct sockaddr_in *)(const void *)address)->sin_addr;
	else if (address->sa_family == AF_INET6)
		bytes = &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr;
	if (bytes == NULL || inet_ntop(address->sa_family, bytes, text, sizeof(text)) == NULL)
		return;
	bool is_mapped = text_starts_with(text, mapped) && strchr(text, '.') != NULL;
	(void)text_copy(peer_out, HTTPD_PEER_SIZE, is_mapped ? text + strlen(mapped) : text);
}
