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
#include "common/io/httpd_exchange.h"
#include "common/io/httpd_routes.h"

enum {
	CONNECTION_MEMORY_BYTES = 16384, /* also the limit for the head of a request */
	WAIT_MAX_MS = 60000,
	DRAIN_WAIT_MS = 20,
	DRAIN_TURNS = 10, /* with nothing to do, until nobody is expected any more */
};

struct httpd {
	struct MHD_Daemon *daemon;
	struct httpd_settings settings;
	uint16_t port;
	struct httpd_clients clients;
	struct exchange *delayed;
	struct exchange *gathered[HTTPD_GROUP_MAX]; /* complete, not handled yet */
	size_t gathered_count;
	size_t under_way;
	int listener;   /* -1: the door is closed */
	int idle_turns; /* of the drain */
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
		place = &(*place)->next;
	if (*place != NULL)
		*place = exchange->next;
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
	httpd_exchange_destroy(&exchange);
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

/* Our turn now: the client is not to blame when it waits. */
static void suspend(struct exchange *exchange)
{
	exchange->client->is_waiting = true;
	MHD_suspend_connection(exchange->connection);
}

static void resume(struct httpd *httpd, struct exchange *exchange)
{
	exchange->client->is_waiting = false;
	httpd_clients_touch(&httpd->clients, exchange->client);
	MHD_resume_connection(exchange->connection);
}

static void delay_answer(struct httpd *httpd, struct exchange *exchange, uint64_t delay_ms)
{
	exchange->due_ms = clock_now_ms() + delay_ms;
	exchange->next = httpd->delayed;
	httpd->delayed = exchange;
}

static void handle(
	const struct httpd *httpd, const struct exchange *exchange, struct httpd_answer *answer)
{
	const struct httpd_request request = httpd_exchange_request(exchange);

	*answer = (struct httpd_answer){ 0 };
	if (exchange->is_unclear)
		httpd_refuse(&httpd->settings, &request, MHD_HTTP_BAD_REQUEST, answer);
	else if (exchange->is_too_large)
		httpd_refuse(&httpd->settings, &request, MHD_HTTP_CONTENT_TOO_LARGE, answer);
	else
		httpd_route(&httpd->settings, &request, answer);
}

static void keep_answer(
	const struct httpd *httpd, struct exchange *exchange, struct httpd_answer *answer)
{
	httpd_exchange_keep_answer(exchange, answer, httpd->settings.constants,
		httpd->listener < 0 || exchange->is_unclear);
}

static enum MHD_Result answer_request(struct httpd *httpd, struct exchange *exchange)
{
	struct httpd_answer answer;

	handle(httpd, exchange, &answer);
	keep_answer(httpd, exchange, &answer);
	if (answer.delay_ms == 0)
		return httpd_exchange_send_answer(exchange);
	delay_answer(httpd, exchange, answer.delay_ms);
	suspend(exchange);
	return MHD_YES;
}

/* Handled at the end of the turn, together with others. */
static bool is_gathered(struct httpd *httpd, struct exchange *exchange)
{
	const struct httpd_group *group = httpd->settings.group;
	const struct httpd_request request = httpd_exchange_request(exchange);

	if (group == NULL || httpd->gathered_count == HTTPD_GROUP_MAX || exchange->is_too_large ||
		!group->is_member(&request))
		return false;
	httpd->gathered[httpd->gathered_count++] = exchange;
	suspend(exchange);
	return true;
}

/* Handles all that was gathered and leaves the answers in answers. */
static void handle_group(struct httpd *httpd, struct httpd_answer answers[HTTPD_GROUP_MAX])
{
	const struct httpd_group *group = httpd->settings.group;
	size_t count = httpd->gathered_count;
	bool is_group = count > 1 && group->begin(httpd->settings.context);

	for (size_t i = 0; i < count; i++)
		handle(httpd, httpd->gathered[i], &answers[i]);
	if (!is_group)
		return;
	group->settle(httpd->settings.context);
	if (group->end(httpd->settings.context))
		return;
	for (size_t i = 0; i < count; i++) {
		free(answers[i].body_adopt);
		handle(httpd, httpd->gathered[i], &answers[i]);
	}
}

static void serve_gathered(struct httpd *httpd)
{
	struct httpd_answer answers[HTTPD_GROUP_MAX];

	if (httpd->gathered_count == 0)
		return;
	handle_group(httpd, answers);
	for (size_t i = 0; i < httpd->gathered_count; i++) {
		struct exchange *exchange = httpd->gathered[i];

		keep_answer(httpd, exchange, &answers[i]);
		if (answers[i].delay_ms > 0)
			delay_answer(httpd, exchange, answers[i].delay_ms);
		else
			resume(httpd, exchange);
	}
	httpd->gathered_count = 0;
}

static struct exchange *begin_exchange(struct httpd *httpd, struct MHD_Connection *connection,
	const char *method, const char *path)
{
	struct exchange *exchange = memory_allocate(sizeof(*exchange));
	const char *length = MHD_lookup_connection_value(
		connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_CONTENT_LENGTH);
	uint64_t size = 0;

	httpd->under_way++;
	exchange->connection = connection;
	exchange->method = method;
	exchange->path = path;
	exchange->client = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)
				   ->socket_context;
	exchange->is_unclear = !httpd_exchange_has_clear_head(connection);
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
		exchange = begin_exchange(httpd, connection, method, path);
		*place = exchange;
		/* Answered before the body is read, which the library then leaves unread. */
		if (exchange->is_unclear || exchange->is_too_large)
			return answer_request(httpd, exchange);
		return MHD_YES;
	}
	if (*size > 0) {
		httpd_exchange_take_body(exchange, httpd->settings.body_max, data, *size);
		*size = 0;
		return MHD_YES;
	}
	if (exchange->is_answered)
		return httpd_exchange_send_answer(exchange);
	return is_gathered(httpd, exchange) ? MHD_YES : answer_request(httpd, exchange);
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

static void resume_due(struct httpd *httpd, uint64_t now_ms)
{
	struct exchange **place = &httpd->delayed;

	while (*place != NULL) {
		struct exchange *exchange = *place;

		if (exchange->due_ms > now_ms) {
			place = &exchange->next;
			continue;
		}
		*place = exchange->next;
		resume(httpd, exchange);
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
		exchange = exchange->next)
		resume(*httpd, exchange);
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
		exchange = exchange->next)
		if (exchange->due_ms < next_ms)
			next_ms = exchange->due_ms;
	return next_ms > now_ms ? next_ms - now_ms : 0;
}

void httpd_step(struct httpd *httpd, uint64_t wait_ms)
{
	uint64_t now_ms = clock_now_ms();

	resume_due(httpd, now_ms);
	(void)MHD_run_wait(httpd->daemon, (int32_t)shorten_wait(httpd, wait_ms, now_ms));
	serve_gathered(httpd);
	httpd_clients_cut_slow(&httpd->clients, httpd->settings.time_limit_ms);
}

bool httpd_drain(struct httpd *httpd)
{
	if (httpd->idle_turns == 0)
		httpd_step(httpd, 0);
	httpd_close_door(httpd);
	httpd_step(httpd, DRAIN_WAIT_MS);
	httpd->idle_turns = httpd->under_way > 0 ? 1 : httpd->idle_turns + 1;
	return httpd->idle_turns > DRAIN_TURNS;
}
