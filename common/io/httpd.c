#include "common/io/httpd.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <microhttpd.h>

#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/io/endpoint.h"
#include "common/io/httpd_clients.h"
#include "common/io/httpd_routes.h"

enum {
	CONNECTION_MEMORY_BYTES = 16384, /* also the limit for the head of a request */
	BODY_FIRST_BYTES = 1024,
	WAIT_MAX_MS = 60000,
};

/* One request and its answer. */
struct exchange {
	struct MHD_Connection *connection;
	struct httpd_client *client;
	char *body;
	size_t body_size, body_capacity;
	bool is_too_large;
	bool is_answered;
	bool drop_connection;
	unsigned int status;
	struct MHD_Response *response;
	uint64_t due_ms; /* of a delayed answer */
	struct exchange *next_delayed;
};

struct httpd {
	struct MHD_Daemon *daemon;
	struct httpd_settings settings;
	uint16_t port;
	struct httpd_clients clients;
	struct exchange *delayed;
	size_t under_way;
	int listener; /* -1: the door is closed */
};

static void on_connection(void *context, struct MHD_Connection *connection, void **place,
	enum MHD_ConnectionNotificationCode code)
{
	struct httpd *httpd = context;

	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		/* Some places are always free for somebody who is quick. */
		*place = httpd_clients_add(&httpd->clients,
			MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)
				->connect_fd,
			(size_t)httpd->settings.connection_max * 3 / 4);
		return;
	}
	httpd_clients_remove(&httpd->clients, *place);
	*place = NULL;
}

static void forget_delayed(struct httpd *httpd, const struct exchange *exchange)
{
	struct exchange **place = &httpd->delayed;

	while (*place != NULL && *place != exchange)
		place = &(*place)->next_delayed;
	if (*place != NULL)
		*place = exchange->next_delayed;
}

static void on_completed(void *context, struct MHD_Connection *connection, void **place,
	enum MHD_RequestTerminationCode code)
{
	struct httpd *httpd = context;
	struct exchange *exchange = *place;

	(void)connection;
	(void)code;
	if (exchange == NULL)
		return;
	httpd_clients_touch(&httpd->clients, exchange->client);
	forget_delayed(httpd, exchange);
	httpd->under_way--;
	if (exchange->response != NULL)
		MHD_destroy_response(exchange->response);
	free(exchange->body);
	free(exchange);
	*place = NULL;
}

/* A NUL would end the text early and make two paths one. */
static size_t unescape(void *context, struct MHD_Connection *connection, char *text)
{
	size_t size = MHD_http_unescape(text);

	(void)context;
	(void)connection;
	for (size_t i = 0; i < size; i++)
		if (text[i] == '\0')
			text[i] = '?';
	return size;
}

static void take_body(struct httpd *httpd, struct exchange *exchange, const char *data, size_t size)
{
	size_t needed = exchange->body_size + size;

	if (exchange->is_too_large || size > httpd->settings.body_max ||
		needed > httpd->settings.body_max) {
		exchange->is_too_large = true;
		return;
	}
	if (needed + 1 > exchange->body_capacity) {
		size_t capacity = exchange->body_capacity * 2 + BODY_FIRST_BYTES;

		exchange->body_capacity = capacity > needed ? capacity : needed + 1;
		exchange->body = memory_resize_array(exchange->body, exchange->body_capacity, 1);
	}
	memcpy(exchange->body + exchange->body_size, data, size);
	exchange->body_size = needed;
	exchange->body[needed] = '\0';
}

static void keep_answer(
	const struct httpd *httpd, struct exchange *exchange, struct httpd_answer *answer)
{
	const char *type =
		answer->content_type == NULL ? "text/plain; charset=utf-8" : answer->content_type;

	exchange->is_answered = true;
	exchange->drop_connection = answer->drop_connection;
	exchange->status = answer->status;
	if (answer->body_adopt == NULL)
		answer->body_adopt = memory_allocate(1);
	exchange->response = MHD_create_response_from_buffer_with_free_callback(
		answer->body_size, answer->body_adopt, free);
	if (exchange->response == NULL) { /* no memory inside the library */
		free(answer->body_adopt);
		exchange->drop_connection = true;
		return;
	}
	(void)MHD_add_response_header(exchange->response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	if (httpd->listener < 0)
		(void)MHD_add_response_header(
			exchange->response, MHD_HTTP_HEADER_CONNECTION, "close");
	for (const struct httpd_constant *constant = httpd->settings.constants;
		constant != NULL && constant->name != NULL; constant++)
		(void)MHD_add_response_header(exchange->response, constant->name, constant->value);
	for (size_t i = 0; i < HTTPD_HEADER_MAX && answer->headers[i].name != NULL; i++)
		(void)MHD_add_response_header(
			exchange->response, answer->headers[i].name, answer->headers[i].value);
}

/* NO makes the library close the connection without a word. */
static enum MHD_Result send_answer(struct exchange *exchange)
{
	if (exchange->drop_connection)
		return MHD_NO;
	return MHD_queue_response(exchange->connection, exchange->status, exchange->response);
}

static enum MHD_Result delay_answer(
	struct httpd *httpd, struct exchange *exchange, uint64_t delay_ms)
{
	exchange->due_ms = clock_now_ms() + delay_ms;
	exchange->next_delayed = httpd->delayed;
	httpd->delayed = exchange;
	exchange->client->is_waiting = true;
	MHD_suspend_connection(exchange->connection);
	return MHD_YES;
}

static enum MHD_Result answer_request(
	struct httpd *httpd, struct exchange *exchange, const char *method, const char *path)
{
	const struct httpd_request request = {
		.method = method,
		.path = path,
		.body = exchange->body == NULL ? "" : exchange->body,
		.body_size = exchange->body_size,
		.library_request = exchange->connection,
	};
	struct httpd_answer answer = { 0 };

	if (exchange->is_too_large)
		httpd_refuse(&httpd->settings, &request, MHD_HTTP_CONTENT_TOO_LARGE, &answer);
	else
		httpd_route(&httpd->settings, &request, &answer);
	keep_answer(httpd, exchange, &answer);
	if (answer.delay_ms > 0)
		return delay_answer(httpd, exchange, answer.delay_ms);
	return send_answer(exchange);
}

static struct exchange *begin_exchange(struct httpd *httpd, struct MHD_Connection *connection)
{
	struct exchange *exchange = memory_allocate(sizeof(*exchange));
	const char *length = MHD_lookup_connection_value(
		connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_CONTENT_LENGTH);
	uint64_t size = 0;

	httpd->under_way++;
	exchange->connection = connection;
	exchange->client = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)
				   ->socket_context;
	exchange->is_too_large =
		length != NULL && !text_parse_uint(length, 0, httpd->settings.body_max, &size);
	return exchange;
}

/* Called for the head, for each piece of the body, at the end, and after a delay. */
/* NOLINTNEXTLINE(readability-function-size): the library's signature. */
static enum MHD_Result on_request(void *context, struct MHD_Connection *connection,
	const char *path, const char *method, const char *version, const char *data, size_t *size,
	void **place)
{
	struct httpd *httpd = context;
	struct exchange *exchange = *place;

	(void)version;
	if (exchange == NULL) {
		exchange = begin_exchange(httpd, connection);
		*place = exchange;
		/* Answered before the body is read, which the library then leaves unread. */
		if (exchange->is_too_large)
			return answer_request(httpd, exchange, method, path);
		return MHD_YES;
	}
	if (*size > 0) {
		take_body(httpd, exchange, data, *size);
		*size = 0;
		return MHD_YES;
	}
	if (exchange->is_answered)
		return send_answer(exchange);
	return answer_request(httpd, exchange, method, path);
}

static void start_daemon(struct httpd *httpd)
{
	httpd->daemon = MHD_start_daemon(MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL,
		on_request, httpd, MHD_OPTION_LISTEN_SOCKET, httpd->listener,
		MHD_OPTION_CONNECTION_LIMIT, (unsigned int)httpd->settings.connection_max,
		MHD_OPTION_PER_IP_CONNECTION_LIMIT,
		(unsigned int)httpd->settings.connection_per_address_max,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEMORY_BYTES,
		MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_NOTIFY_CONNECTION, on_connection, httpd,
		MHD_OPTION_NOTIFY_COMPLETED, on_completed, httpd, MHD_OPTION_UNESCAPE_CALLBACK,
		unescape, NULL, MHD_OPTION_END);
}

enum result httpd_create(
	const struct httpd_settings *settings, struct httpd **httpd_out, struct error *error)
{
	int listener = -1;
	uint16_t port = 0;

	*httpd_out = NULL;
	enum result result = endpoint_listen(settings->address, &listener, &port, error);
	if (result != RESULT_OK)
		return result;
	struct httpd *httpd = memory_allocate(sizeof(*httpd));
	httpd->settings = *settings;
	httpd->settings.address = NULL; /* the caller's */
	httpd->port = port;
	httpd->listener = listener;
	start_daemon(httpd);
	if (httpd->daemon == NULL) {
		(void)close(listener);
		free(httpd);
		return error_set(RESULT_PERMANENT, error, "start the HTTP server: no resources");
	}
	*httpd_out = httpd;
	return RESULT_OK;
}

static void resume(struct exchange *exchange)
{
	exchange->client->is_waiting = false;
	MHD_resume_connection(exchange->connection);
}

static void resume_due(struct httpd *httpd, uint64_t now_ms)
{
	struct exchange **place = &httpd->delayed;

	while (*place != NULL) {
		struct exchange *exchange = *place;

		if (exchange->due_ms > now_ms) {
			place = &exchange->next_delayed;
			continue;
		}
		*place = exchange->next_delayed;
		httpd_clients_touch(&httpd->clients, exchange->client);
		resume(exchange);
	}
}

/* The library lets go of the socket, which is ours then. */
void httpd_close_door(struct httpd *httpd)
{
	if (httpd->listener < 0)
		return;
	(void)MHD_quiesce_daemon(httpd->daemon);
	(void)close(httpd->listener);
	httpd->listener = -1;
}

size_t httpd_count_under_way(const struct httpd *httpd)
{
	return httpd->under_way;
}

void httpd_destroy(struct httpd **httpd)
{
	if (*httpd == NULL)
		return;
	/* The library must not be stopped while an answer is delayed. */
	for (struct exchange *exchange = (*httpd)->delayed; exchange != NULL;
		exchange = exchange->next_delayed)
		resume(exchange);
	MHD_stop_daemon((*httpd)->daemon);
	free(*httpd);
	*httpd = NULL;
}

uint16_t httpd_port(const struct httpd *httpd)
{
	return httpd->port;
}

/* The time until something happens by itself: a client is too slow or a delayed answer is due. */
static uint64_t shorten_wait(const struct httpd *httpd, uint64_t wait_ms, uint64_t now_ms)
{
	uint64_t next_ms = now_ms + (wait_ms < WAIT_MAX_MS ? wait_ms : WAIT_MAX_MS);
	uint64_t cut_ms = httpd_clients_next_cut_ms(&httpd->clients, httpd->settings.time_limit_ms);

	if (cut_ms < next_ms)
		next_ms = cut_ms;
	for (const struct exchange *exchange = httpd->delayed; exchange != NULL;
		exchange = exchange->next_delayed)
		if (exchange->due_ms < next_ms)
			next_ms = exchange->due_ms;
	return next_ms > now_ms ? next_ms - now_ms : 0;
}

void httpd_step(struct httpd *httpd, uint64_t wait_ms)
{
	uint64_t now_ms = clock_now_ms();

	resume_due(httpd, now_ms);
	(void)MHD_run_wait(httpd->daemon, (int32_t)shorten_wait(httpd, wait_ms, now_ms));
	httpd_clients_cut_slow(&httpd->clients, httpd->settings.time_limit_ms);
}
