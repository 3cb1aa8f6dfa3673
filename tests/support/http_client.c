#include "tests/support/http_client.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/base/text.h"
#include "tests/support/listener.h"

enum {
	METRIC_LIMIT_MS = 5000,
	REQUEST_SIZE = 1024
};

/* Reads until the server ends the connection or time is up. */
static size_t read_all(int handle, uint64_t limit_ms, char *answer)
{
	uint64_t end_ms = clock_now_ms() + limit_ms;
	size_t size = 0;

	while (size < HTTP_CLIENT_SIZE - 1) {
		struct pollfd news = { .fd = handle, .events = POLLIN };
		uint64_t now_ms = clock_now_ms();

		if (now_ms >= end_ms || poll(&news, 1, (int)(end_ms - now_ms)) <= 0)
			break;
		ssize_t got = recv(handle, answer + size, HTTP_CLIENT_SIZE - 1 - size, 0);
		if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
			break;
		size += got > 0 ? (size_t)got : 0;
	}
	answer[size] = '\0';
	return size;
}

static unsigned int read_status(const char *answer)
{
	if (!text_starts_with(answer, "HTTP/1."))
		return HTTP_CLIENT_REFUSED;
	return (unsigned int)strtoul(answer + strlen("HTTP/1.1"), NULL, 10);
}

/* answer holds HTTP_CLIENT_SIZE bytes. */
static unsigned int exchange(uint16_t port, const char *request, uint64_t limit_ms, char *answer)
{
	int handle = listener_connect(port);
	unsigned int status = HTTP_CLIENT_REFUSED;

	answer[0] = '\0';
	if (handle < 0)
		return HTTP_CLIENT_REFUSED;
	if (send(handle, request, strlen(request), MSG_NOSIGNAL) == (ssize_t)strlen(request) &&
		read_all(handle, limit_ms, answer) > 0)
		status = read_status(answer);
	(void)close(handle);
	return status;
}

unsigned int http_client_get(
	uint16_t port, const char *path, uint64_t limit_ms, char answer_out[HTTP_CLIENT_SIZE])
{
	char *answer = answer_out == NULL ? memory_allocate(HTTP_CLIENT_SIZE) : answer_out;
	char request[REQUEST_SIZE];

	(void)text_format(request, sizeof(request),
		"GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n", path);
	unsigned int status = exchange(port, request, limit_ms, answer);
	if (answer_out == NULL)
		free(answer);
	return status;
}

unsigned int http_client_put(uint16_t port, const char *path, const char *body, uint64_t limit_ms)
{
	char *answer = memory_allocate(HTTP_CLIENT_SIZE);
	char request[REQUEST_SIZE];

	(void)text_format(request, sizeof(request),
		"PUT %s HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n"
		"Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
		path, strlen(body), body);
	unsigned int status = exchange(port, request, limit_ms, answer);
	free(answer);
	return status;
}

double http_client_metric(uint16_t port, const char *series)
{
	char *answer = memory_allocate(HTTP_CLIENT_SIZE);
	double value = -1;
	size_t length = strlen(series);

	(void)http_client_get(port, "/metrics", METRIC_LIMIT_MS, answer);
	for (const char *line = strchr(answer, '\n'); line != NULL; line = strchr(line, '\n')) {
		line++;
		if (strncmp(line, series, length) == 0 && line[length] == ' ')
			value = strtod(line + length, NULL);
	}
	free(answer);
	return value;
}
