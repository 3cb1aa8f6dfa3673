#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/base/text.h"
#include "tests/support/http_stub_board.h"
#include "tests/support/listener.h"

enum {
	CONNECTIONS_MAX = 512,
	INPUT_SIZE = 2 * 1024 * 1024,
	TURN_MS = 5,
	TRICKLE_MS = 1000,
	ENDLESS_SIZE = 4096
};

struct connection {
	int handle;
	char *input;
	size_t input_size;
	struct board_answer answer;
	bool is_answering;
	uint64_t start_ms; /* of the answer, or of its next byte */
	size_t sent;
	bool is_over;
};

struct server {
	struct stub_site *site;
	struct connection *connections[CONNECTIONS_MAX];
	size_t count;
};

static void end_call(struct server *server, struct connection *connection)
{
	if (!connection->is_answering)
		return;
	connection->is_answering = false;
	free(connection->answer.text);
	connection->answer.text = NULL;
	(void)pthread_mutex_lock(&server->site->board->lock);
	server->site->board->in_flight--;
	(void)pthread_mutex_unlock(&server->site->board->lock);
}

static void close_connection(struct server *server, size_t index)
{
	struct connection *connection = server->connections[index];

	end_call(server, connection);
	(void)close(connection->handle);
	free(connection->input);
	free(connection);
	server->count--;
	server->connections[index] = server->connections[server->count];
}

static void take_connection(struct server *server)
{
	int handle = accept(server->site->listener, NULL, NULL);

	if (handle < 0)
		return;
	if (server->count == CONNECTIONS_MAX) {
		(void)close(handle);
		return;
	}
	(void)fcntl(handle, F_SETFL, O_NONBLOCK);
	struct connection *connection = memory_allocate(sizeof(*connection));
	connection->handle = handle;
	connection->input = memory_allocate(INPUT_SIZE + 1);
	server->connections[server->count++] = connection;
}

static void follow_wish(struct server *server)
{
	struct stub_site *site = server->site;
	bool is_refusing = atomic_load(&site->board->is_refusing);

	if (is_refusing && site->listener >= 0) {
		(void)close(site->listener);
		site->listener = -1;
		while (server->count > 0)
			close_connection(server, server->count - 1);
	}
	if (!is_refusing && site->listener < 0)
		site->listener = listener_open(&site->port);
	atomic_store(&site->board->is_refused, site->listener < 0);
}

static size_t read_length(const char *head, const char *end)
{
	static const char name[] = "content-length:";

	for (const char *c = head; c < end; c++)
		if (strncasecmp(c, name, strlen(name)) == 0)
			return strtoull(c + strlen(name), NULL, 10);
	return 0;
}

/* Starts the answer when a whole request is there. */
static void look_for_request(struct server *server, struct connection *connection)
{
	connection->input[connection->input_size] = '\0';
	const char *end = strstr(connection->input, "\r\n\r\n");
	if (end == NULL || connection->is_answering)
		return;
	size_t head_size = (size_t)(end - connection->input) + 4;
	size_t body_size = read_length(connection->input, end);
	if (connection->input_size - head_size < body_size)
		return;
	const struct board_request request = { .head = connection->input,
		.head_size = head_size,
		.body = connection->input + head_size,
		.body_size = body_size };
	board_judge(server->site->board, &request, &connection->answer);
	connection->is_answering = true;
	connection->start_ms = clock_now_ms() + connection->answer.delay_ms;
	connection->sent = 0;
	connection->input_size -= head_size + body_size;
	memmove(connection->input, connection->input + head_size + body_size,
		connection->input_size);
}

static void read_some(struct server *server, struct connection *connection)
{
	ssize_t got = recv(connection->handle, connection->input + connection->input_size,
		INPUT_SIZE - connection->input_size, 0);

	if (got <= 0) {
		connection->is_over = true;
		return;
	}
	connection->input_size += (size_t)got;
	look_for_request(server, connection);
}

static void send_endless(struct connection *connection)
{
	static const char head[] = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n";
	char filling[ENDLESS_SIZE];

	memset(filling, ' ', sizeof(filling));
	const char *bytes = connection->sent == 0 ? head : filling;
	size_t size = connection->sent == 0 ? strlen(head) : sizeof(filling);
	ssize_t put = send(connection->handle, bytes, size, MSG_NOSIGNAL);
	if (put > 0)
		connection->sent += (size_t)put;
}

static void send_text(struct server *server, struct connection *connection, size_t at_most)
{
	const char *text = connection->answer.text;
	size_t left = strlen(text) - connection->sent;
	ssize_t put = send(connection->handle, text + connection->sent,
		left < at_most ? left : at_most, MSG_NOSIGNAL);

	if (put < 0)
		return;
	connection->sent += (size_t)put;
	if (connection->sent < strlen(text))
		return;
	end_call(server, connection);
	look_for_request(server, connection);
}

static void send_some(struct server *server, struct connection *connection)
{
	if (!connection->is_answering || clock_now_ms() < connection->start_ms)
		return;
	switch (connection->answer.mode) {
	case HTTP_STUB_HANG:
		return;
	case HTTP_STUB_CUT:
	case HTTP_STUB_ANSWER_LOST:
		connection->is_over = true;
		return;
	case HTTP_STUB_ENDLESS:
		send_endless(connection);
		return;
	case HTTP_STUB_TRICKLE:
		connection->start_ms = clock_now_ms() + TRICKLE_MS;
		send_text(server, connection, 1);
		return;
	case HTTP_STUB_OK:
	case HTTP_STUB_STATUS:
	case HTTP_STUB_CODE:
	case HTTP_STUB_TEXT:
	case HTTP_STUB_MISSING:
	case HTTP_STUB_REDIRECT:
		send_text(server, connection, SIZE_MAX);
		return;
	}
}

/* Place 0 is the listener, place 1 + i connection i. */
static size_t list_handles(const struct server *server, struct pollfd *handles)
{
	handles[0] = (struct pollfd){ .fd = server->site->listener, .events = POLLIN };
	for (size_t i = 0; i < server->count; i++)
		handles[1 + i] =
			(struct pollfd){ .fd = server->connections[i]->handle, .events = POLLIN };
	return 1 + server->count;
}

void stub_serve(void *context)
{
	struct server *server = memory_allocate(sizeof(*server));
	struct pollfd handles[1 + CONNECTIONS_MAX];

	server->site = context;
	for (;;) {
		size_t count = list_handles(server, handles);

		(void)poll(handles, (nfds_t)count, TURN_MS);
		/* From the last to the first: closing one moves the last into its place. */
		for (size_t i = server->count; i > 0; i--) {
			struct connection *connection = server->connections[i - 1];

			if (handles[i].revents != 0)
				read_some(server, connection);
			if (!connection->is_over)
				send_some(server, connection);
			if (connection->is_over)
				close_connection(server, i - 1);
		}
		if (handles[0].revents != 0)
			take_connection(server);
		follow_wish(server);
	}
}
