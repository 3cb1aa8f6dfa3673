#include "bench/load/api.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/io/signature.h"

enum {
	BUFFER_SIZE = 8192,
	BODY_SIZE = 512,
	HEADER_SIZE = 128,
	POLL_MS = 1000,
};

struct client {
	int socket;
	bool is_busy;
	uint64_t place;    /* of the call under way */
	uint64_t begun_us; /* when it began, or should have */
	char answer[BUFFER_SIZE];
	size_t size;
};

struct run {
	const struct api_plan *plan;
	struct api_report *report;
	struct client clients[API_CLIENT_MAX];
	uint64_t start_us;
	uint64_t next; /* place of the next call */
	uint64_t done;
};

static enum result connect_client(const struct run *run, struct client *client, struct error *error)
{
	const struct sockaddr_in address = { .sin_family = AF_INET,
		.sin_port = htons(run->plan->port),
		.sin_addr = { .s_addr = htonl(INADDR_LOOPBACK) } };
	int one = 1;

	client->socket = socket(AF_INET, SOCK_STREAM, 0);
	if (client->socket < 0 ||
		connect(client->socket, (const struct sockaddr *)&address, sizeof(address)) != 0)
		return error_set(RESULT_TEMPORARY, error, "connect: %s", strerror(errno));
	(void)setsockopt(client->socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	(void)fcntl(client->socket, F_SETFL, O_NONBLOCK);
	return RESULT_OK;
}

static void write_order(const struct api_plan *plan, uint64_t place, char body[BODY_SIZE])
{
	(void)text_format(body, BODY_SIZE,
		"{\"order_no\":\"%s%09" PRIu64 "\",\"user_id\":\"%" PRIu64
		"\",\"amount_cents\":9900,"
		"\"currency\":\"CNY\",\"timeout\":\"30m\",\"items\":[{\"sku_id\":\"SKU-1\","
		"\"quantity\":2}]}",
		plan->prefix, place + 1, place + 1);
}

static void write_notice(
	const struct api_plan *plan, uint64_t place, char body[BODY_SIZE], char header[HEADER_SIZE])
{
	char text[BODY_SIZE + HEADER_SIZE];
	char signature[SIGNATURE_HEX_SIZE];
	uint64_t time_s = clock_epoch_ms() / 1000;

	(void)text_format(body, BODY_SIZE,
		"{\"channel\":\"bench\",\"trade_no\":\"T-%s%09" PRIu64
		"\",\"order_no\":\"%s%09" PRIu64
		"\",\"amount_cents\":9900,\"currency\":\"CNY\",\"state\":\"paid\"}",
		plan->prefix, place + 1, plan->prefix, place + 1);
	(void)text_format(text, sizeof(text), "%" PRIu64 ".%s", time_s, body);
	signature_hex(signature, plan->secret, strlen(plan->secret), text, strlen(text));
	(void)text_format(header, HEADER_SIZE, "X-Lapse-Signature: t=%" PRIu64 ",v1=%s\r\n", time_s,
		signature);
}

/* So little always fits into the buffer of a connection that has nothing under way. */
static enum result begin_call(
	struct run *run, struct client *client, uint64_t begun_us, struct error *error)
{
	char request[BUFFER_SIZE];
	char body[BODY_SIZE];
	char header[HEADER_SIZE] = "";

	client->is_busy = true;
	client->place = run->next++;
	client->begun_us = begun_us;
	client->size = 0;
	if (run->plan->pays)
		write_notice(run->plan, client->place, body, header);
	else
		write_order(run->plan, client->place, body);
	(void)text_format(request, sizeof(request),
		"POST %s HTTP/1.1\r\nHost: gateway\r\nContent-Type: application/json\r\n"
		"Authorization: Bearer bench-%d\r\nContent-Length: %zu\r\n%s\r\n%s",
		run->plan->pays ? "/v1/payments/notify" : "/v1/orders",
		(int)(client - run->clients), strlen(body), header, body);
	size_t size = strlen(request);
	if (send(client->socket, request, size, MSG_NOSIGNAL) != (ssize_t)size)
		return error_set(RESULT_TEMPORARY, error, "send: %s", strerror(errno));
	return RESULT_OK;
}

/* Is the answer whole? */
static bool is_answered(const struct client *client)
{
	const char *end = strstr(client->answer, "\r\n\r\n");
	const char *length = strstr(client->answer, "Content-Length: ");

	return end != NULL && length != NULL &&
	       client->size >= (size_t)(end + 4 - client->answer) +
				       strtoul(length + strlen("Content-Length: "), NULL, 10);
}

static enum result take_answer(struct run *run, struct client *client, struct error *error)
{
	ssize_t got = recv(client->socket, client->answer + client->size,
		sizeof(client->answer) - 1 - client->size, 0);

	if (got < 0 && errno == EAGAIN)
		return RESULT_OK;
	if (got <= 0)
		return error_set(RESULT_TEMPORARY, error, "the gateway ended a connection");
	client->size += (size_t)got;
	client->answer[client->size] = '\0';
	if (!is_answered(client))
		return RESULT_OK;
	run->report->times[client->place] = (uint32_t)(clock_now_us() - client->begun_us);
	run->report->good += text_starts_with(client->answer, "HTTP/1.1 20") ? 1 : 0;
	run->done++;
	client->is_busy = false;
	return RESULT_OK;
}

/* When the next call should begin; at full speed that is now. */
static uint64_t next_begin_us(const struct run *run)
{
	if (run->plan->rate == 0)
		return clock_now_us();
	return run->start_us + run->next * 1000000 / run->plan->rate;
}

static enum result begin_due_calls(struct run *run, struct error *error)
{
	enum result result = RESULT_OK;

	for (int i = 0; i < run->plan->clients && run->next < run->plan->count; i++) {
		uint64_t begin_us = next_begin_us(run);

		if (run->clients[i].is_busy || begin_us > clock_now_us())
			continue;
		result = begin_call(run, &run->clients[i], begin_us, error);
		if (result != RESULT_OK)
			return result;
	}
	return result;
}

/* Until the next call is due, in milliseconds: late by less than one. */
static int wait_ms(const struct run *run)
{
	uint64_t begin_us = next_begin_us(run);
	uint64_t now_us = clock_now_us();

	if (run->plan->rate == 0 || run->next == run->plan->count)
		return POLL_MS;
	return begin_us > now_us ? (int)((begin_us - now_us) / 1000) : 0;
}

static enum result take_answers(struct run *run, struct error *error)
{
	struct pollfd news[API_CLIENT_MAX];
	enum result result = RESULT_OK;

	for (int i = 0; i < run->plan->clients; i++)
		news[i] = (struct pollfd){ .fd = run->clients[i].is_busy ? run->clients[i].socket
									 : -1,
			.events = POLLIN };
	(void)poll(news, (nfds_t)run->plan->clients, wait_ms(run));
	for (int i = 0; i < run->plan->clients && result == RESULT_OK; i++)
		if (news[i].revents != 0)
			result = take_answer(run, &run->clients[i], error);
	return result;
}

static int compare_times(const void *left, const void *right)
{
	const uint32_t *a = left;
	const uint32_t *b = right;

	return (*a > *b) - (*a < *b);
}

enum result api_run(const struct api_plan *plan, struct api_report *report, struct error *error)
{
	struct run *run = memory_allocate(sizeof(*run));
	enum result result = RESULT_OK;

	run->plan = plan;
	run->report = report;
	report->times = memory_allocate_array(plan->count, sizeof(*report->times));
	for (int i = 0; i < plan->clients && result == RESULT_OK; i++)
		result = connect_client(run, &run->clients[i], error);
	report->start_ms = clock_epoch_ms();
	run->start_us = clock_now_us();
	while (result == RESULT_OK && run->done < plan->count) {
		result = begin_due_calls(run, error);
		if (result == RESULT_OK)
			result = take_answers(run, error);
	}
	report->end_ms = clock_epoch_ms();
	qsort(report->times, plan->count, sizeof(*report->times), compare_times);
	for (int i = 0; i < plan->clients; i++)
		(void)close(run->clients[i].socket);
	free(run);
	return result;
}
