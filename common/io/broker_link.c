#include "common/io/broker_link.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/io/broker_content.h"
#include "common/io/broker_url.h"

enum {
	CONNECT_LIMIT_S = 5,
	FRAME_MIN = 4096, /* the protocol's own minimum; less would never fit a header */
	TEXT_SIZE = 160,
};

/* Reply codes of AMQP 0-9-1 for which the same request fails again. */
static bool is_final(uint16_t code)
{
	switch (code) {
	case AMQP_ACCESS_REFUSED:
	case AMQP_PRECONDITION_FAILED:
	case AMQP_COMMAND_INVALID:
	case AMQP_NOT_ALLOWED:
	case AMQP_NOT_IMPLEMENTED:
		return true;
	default:
		return false;
	}
}

void broker_link_drop(struct broker *broker)
{
	if (broker->connection == NULL)
		return;
	/* Never an orderly close here: on a dead line, or into half a frame, it hangs or harms. */
	(void)amqp_destroy_connection(broker->connection);
	broker->connection = NULL;
	broker->is_blocked = false;
	broker->is_consuming = false;
	broker->has_confirms = false;
	broker->published = 0;
	broker_reader_clear(&broker->reader);
	broker_writer_clear(&broker->writer);
}

enum result broker_link_fail(
	struct broker *broker, int status, const char *what, struct error *error)
{
	broker_link_drop(broker);
	return error_set(RESULT_TEMPORARY, error, "%s: %s", what, amqp_error_string2(status));
}

void broker_link_set_refusal(struct broker *broker, uint16_t code, const char *text)
{
	broker->refusal_code = code;
	(void)text_copy(broker->refusal_text, sizeof(broker->refusal_text), text);
}

/* The broker closed the channel or the connection instead of answering. */
static enum result refused(
	struct broker *broker, const amqp_method_t *method, const char *what, struct error *error)
{
	amqp_bytes_t bytes = { 0 };
	char text[BROKER_NAME_SIZE];
	uint16_t code = 0;

	if (method->id == AMQP_CHANNEL_CLOSE_METHOD) {
		const amqp_channel_close_t *close = method->decoded;
		code = close->reply_code;
		bytes = close->reply_text;
	} else if (method->id == AMQP_CONNECTION_CLOSE_METHOD) {
		const amqp_connection_close_t *close = method->decoded;
		code = close->reply_code;
		bytes = close->reply_text;
	}
	broker_content_copy_text(text, sizeof(text), bytes);
	broker_link_set_refusal(broker, code, text);
	broker_link_drop(broker);
	return error_set(is_final(code) ? RESULT_PERMANENT : RESULT_TEMPORARY, error, "%s: %u %s",
		what, (unsigned)code, text);
}

enum result broker_link_check_reply(
	struct broker *broker, amqp_rpc_reply_t reply, const char *what, struct error *error)
{
	switch (reply.reply_type) {
	case AMQP_RESPONSE_NORMAL:
		return RESULT_OK;
	case AMQP_RESPONSE_SERVER_EXCEPTION:
		return refused(broker, &reply.reply, what, error);
	case AMQP_RESPONSE_LIBRARY_EXCEPTION:
		return broker_link_fail(broker, reply.library_error, what, error);
	case AMQP_RESPONSE_NONE:
		break;
	}
	broker_link_drop(broker);
	return error_set(RESULT_TEMPORARY, error, "%s: no answer", what);
}

bool broker_link_is_channel_closed(amqp_rpc_reply_t reply, uint16_t code)
{
	if (reply.reply_type != AMQP_RESPONSE_SERVER_EXCEPTION ||
		reply.reply.id != AMQP_CHANNEL_CLOSE_METHOD)
		return false;
	return ((const amqp_channel_close_t *)reply.reply.decoded)->reply_code == code;
}

static enum result open_channel(struct broker *broker, struct error *error)
{
	(void)amqp_channel_open(broker->connection, BROKER_AMQP_CHANNEL);
	return broker_link_check_reply(
		broker, amqp_get_rpc_reply(broker->connection), "open a channel", error);
}

enum result broker_link_reopen_channel(struct broker *broker, struct error *error)
{
	amqp_channel_close_ok_t method = { 0 };

	int status = amqp_send_method(
		broker->connection, BROKER_AMQP_CHANNEL, AMQP_CHANNEL_CLOSE_OK_METHOD, &method);
	if (status != AMQP_STATUS_OK)
		return broker_link_fail(broker, status, "close a channel", error);
	return open_channel(broker, error);
}

static amqp_socket_t *create_tls_socket(
	struct broker *broker, const struct broker_url *url, int *status_out)
{
	amqp_socket_t *socket = amqp_ssl_socket_new(broker->connection);

	*status_out = AMQP_STATUS_NO_MEMORY;
	if (socket == NULL)
		return NULL;
	amqp_ssl_socket_set_verify_peer(socket, true);
	amqp_ssl_socket_set_verify_hostname(socket, true);
	*status_out = amqp_ssl_socket_set_ssl_versions(socket, AMQP_TLSv1_2, AMQP_TLSvLATEST);
	if (*status_out == AMQP_STATUS_OK)
		*status_out = amqp_ssl_socket_set_cacert(socket, url->ca_file);
	return socket;
}

static amqp_socket_t *create_socket(
	struct broker *broker, const struct broker_url *url, int *status_out)
{
	if (url->is_tls)
		return create_tls_socket(broker, url, status_out);
	amqp_socket_t *socket = amqp_tcp_socket_new(broker->connection);
	*status_out = socket == NULL ? AMQP_STATUS_NO_MEMORY : AMQP_STATUS_OK;
	return socket;
}

/* The library says "a socket error occurred" for a closed port; the system knows more. */
static enum result fail_to_connect(
	struct broker *broker, const struct broker_url *url, int status, struct error *error)
{
	int code = errno;
	char text[TEXT_SIZE] = "";

	broker_link_drop(broker);
	if (status == AMQP_STATUS_SSL_ERROR && access(url->ca_file, R_OK) != 0)
		return error_set(RESULT_TEMPORARY, error,
			"connect to the broker %s:%d: cannot read the certificates in %s",
			url->url.host, url->url.port, url->ca_file);
	if (status != AMQP_STATUS_SOCKET_ERROR)
		(void)text_copy(text, sizeof(text), amqp_error_string2(status));
	else if (code == 0 || code == EINPROGRESS)
		(void)text_copy(text, sizeof(text), "connection refused or host unreachable");
	else
		(void)strerror_r(code, text, sizeof(text));
	return error_set(RESULT_TEMPORARY, error, "connect to the broker %s:%d: %s", url->url.host,
		url->url.port, text);
}

/*
 * The library waits without limit for a socket that takes no bytes, as long as heartbeats arrive.
 * With this limit the system ends the connection, and thereby the wait.
 */
static void limit_writes(int socket, uint64_t limit_ms)
{
	unsigned int limit = (unsigned int)limit_ms;

	(void)setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &limit, sizeof(limit));
}

static enum result open_socket(
	struct broker *broker, const struct broker_url *url, struct error *error)
{
	const struct timeval connect_limit = { .tv_sec = CONNECT_LIMIT_S };
	const struct timeval rpc_limit = { .tv_sec = BROKER_RPC_LIMIT_S };
	int status;

	broker->connection = amqp_new_connection();
	if (broker->connection == NULL)
		return error_set(RESULT_TEMPORARY, error, "connect to the broker: no memory");
	amqp_socket_t *socket = create_socket(broker, url, &status);
	if (status == AMQP_STATUS_OK)
		status = amqp_set_rpc_timeout(broker->connection, &rpc_limit);
	if (status == AMQP_STATUS_OK)
		status = amqp_set_handshake_timeout(broker->connection, &rpc_limit);
	errno = 0;
	if (status == AMQP_STATUS_OK)
		status = amqp_socket_open_noblock(
			socket, url->url.host, url->url.port, &connect_limit);
	if (status != AMQP_STATUS_OK)
		return fail_to_connect(broker, url, status, error);
	limit_writes(amqp_get_sockfd(broker->connection), broker->settings->heartbeat_ms);
	return RESULT_OK;
}

static amqp_table_entry_t yes(const char *key)
{
	amqp_table_entry_t entry = { .key = amqp_cstring_bytes(key) };

	entry.value.kind = AMQP_FIELD_KIND_BOOLEAN;
	entry.value.value.boolean = true;
	return entry;
}

/* Without the first capability a deleted queue is silent for ever, without the second an alarm. */
static enum result log_in(struct broker *broker, const struct broker_url *url, struct error *error)
{
	amqp_table_entry_t capabilities[] = { yes("consumer_cancel_notify"),
		yes("connection.blocked") };
	amqp_table_entry_t entries[2] = {
		{ .key = amqp_cstring_bytes("capabilities"), .value.kind = AMQP_FIELD_KIND_TABLE },
		{ .key = amqp_cstring_bytes("connection_name"),
			.value.kind = AMQP_FIELD_KIND_UTF8 },
	};
	amqp_table_t properties = { ARRAY_LENGTH(entries), entries };
	char what[URL_PART_SIZE + TEXT_SIZE];

	entries[0].value.value.table = (amqp_table_t){ ARRAY_LENGTH(capabilities), capabilities };
	entries[1].value.value.bytes = amqp_cstring_bytes(broker->name);
	(void)text_format(
		what, sizeof(what), "log in to the broker %s:%d", url->url.host, url->url.port);
	amqp_rpc_reply_t reply = amqp_login_with_properties(broker->connection, url->url.path, 0,
		BROKER_AMQP_FRAME_MAX, (int)(broker->settings->heartbeat_ms / 1000), &properties,
		AMQP_SASL_METHOD_PLAIN, url->url.user, url->url.password);
	return broker_link_check_reply(broker, reply, what, error);
}

static void copy_property(const amqp_table_t *table, const char *key, char *target, size_t size)
{
	for (int i = 0; i < table->num_entries; i++) {
		const amqp_table_entry_t *entry = &table->entries[i];

		if (entry->key.len == strlen(key) &&
			memcmp(entry->key.bytes, key, entry->key.len) == 0 &&
			(entry->value.kind == AMQP_FIELD_KIND_UTF8 ||
				entry->value.kind == AMQP_FIELD_KIND_BYTES))
			broker_content_copy_text(target, size, entry->value.value.bytes);
	}
}

static void learn_server(struct broker *broker)
{
	const amqp_table_t *properties = amqp_get_server_properties(broker->connection);
	char product[TEXT_SIZE / 2] = "AMQP";
	char version[TEXT_SIZE / 2] = "?";

	copy_property(properties, "product", product, sizeof(product));
	copy_property(properties, "version", version, sizeof(version));
	(void)text_format(broker->server, sizeof(broker->server), "%s %s", product, version);
}

static enum result open_with_url(
	struct broker *broker, const struct broker_url *url, struct error *error)
{
	enum result result = open_socket(broker, url, error);
	if (result == RESULT_OK)
		result = log_in(broker, url, error);
	if (result != RESULT_OK)
		return result;
	if (amqp_get_frame_max(broker->connection) < FRAME_MIN)
		return broker_link_fail(
			broker, AMQP_STATUS_BAD_AMQP_DATA, "log in to the broker", error);
	learn_server(broker);
	result = open_channel(broker, error);
	if (result != RESULT_OK)
		return result;
	broker_writer_open(
		&broker->writer, broker->connection, url->is_tls, broker->settings->heartbeat_ms);
	broker->epoch++;
	return RESULT_OK;
}

enum result broker_link_open(struct broker *broker, struct error *error)
{
	struct broker_url url;

	if (broker->settings->url == NULL)
		return error_set(RESULT_PERMANENT, error, "LAPSE_AMQP_URL is not set");
	enum result result = broker_url_parse(broker->settings->url, &url, error);
	result = error_context(result, error, "LAPSE_AMQP_URL");
	if (result == RESULT_OK)
		result = open_with_url(broker, &url, error);
	memory_wipe(&url, sizeof(url));
	return result;
}
