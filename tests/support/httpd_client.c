#include "tests/support/httpd_client.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <check.h>

#include "common/base/clock.h"
#include "common/io/httpd.h"
#include "tests/support/listener.h"

enum {
	STEP_WAIT_MS = 5
};

void httpd_client_open(struct httpd_client *client, struct httpd *httpd)
{
	client->httpd = httpd;
	client->socket = listener_connect(httpd_port(httpd));
	client->size = 0;
	client->answer[0] = '\0';
	client->is_closed = false;
	client->is_reset = false;
	ck_assert_int_ge(client->socket, 0);
}

void httpd_client_close(struct httpd_client *client)
{
	(void)close(client->socket);
}

void httpd_client_send(struct httpd_client *client, const void *bytes, size_t size)
{
	struct pollfd writable = { .fd = client->socket, .events = POLLOUT };

	(void)poll(&writable, 1, HTTPD_CLIENT_LIMIT_MS);
	(void)send(client->socket, bytes, size, MSG_NOSIGNAL);
}

static void receive(struct httpd_client *client)
{
	size_t room = sizeof(client->answer) - 1 - client->size;
	ssize_t got = recv(client->socket, client->answer + client->size, room, 0);

	if (got > 0)
		client->size += (size_t)got;
	else if (got == 0 || (errno != EAGAIN && errno != ENOTCONN))
		client->is_closed = true;
	client->is_reset = client->is_reset || (got < 0 && errno == ECONNRESET);
	client->answer[client->size] = '\0';
}

void httpd_client_turn(struct httpd_client *client)
{
	httpd_step(client->httpd, STEP_WAIT_MS);
	receive(client);
}

void httpd_client_serve(struct httpd_client *client, const char *text)
{
	uint64_t end_ms = clock_now_ms() + HTTPD_CLIENT_LIMIT_MS;

	while (clock_now_ms() < end_ms) {
		httpd_client_turn(client);
		if (text == NULL ? client->is_closed : strstr(client->answer, text) != NULL)
			return;
	}
	ck_abort_msg("waited in vain for %s, got \"%s\"", text == NULL ? "the end" : text,
		client->answer);
}

void httpd_client_ask(struct httpd_client *client, struct httpd *httpd, const char *request)
{
	httpd_client_open(client, httpd);
	httpd_client_send(client, request, strlen(request));
	httpd_client_serve(client, NULL);
	httpd_client_close(client);
}
