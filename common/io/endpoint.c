#include "common/io/endpoint.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/text.h"

enum {
	BACKLOG = 128,
	HOST_SIZE = 64,
	REQUEST_SIZE = 256,
	STATUS_LINE_SIZE = sizeof("HTTP/1.1 200") - 1,
};

struct socket_address {
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	} to;
	socklen_t size;
};

/* Splits at the last colon; the brackets of an IPv6 address are taken off. */
static bool split(const char *address, char host[HOST_SIZE], uint16_t *port_out)
{
	const char *colon = strrchr(address, ':');
	uint64_t port = 0;

	if (colon == NULL || (size_t)(colon - address) >= HOST_SIZE)
		return false;
	size_t length = (size_t)(colon - address);
	memcpy(host, address, length);
	host[length] = '\0';
	if (!text_parse_uint(colon + 1, 0, UINT16_MAX, &port))
		return false;
	*port_out = (uint16_t)port;
	return true;
}

static bool parse(const char *address, struct socket_address *parsed_out)
{
	char host[HOST_SIZE];
	uint16_t port = 0;

	*parsed_out = (struct socket_address){ 0 };
	if (!split(address, host, &port))
		return false;
	size_t length = strlen(host);
	if (length > 2 && host[0] == '[' && host[length - 1] == ']') {
		host[length - 1] = '\0';
		parsed_out->to.v6.sin6_family = AF_INET6;
		parsed_out->to.v6.sin6_port = htons(port);
		parsed_out->size = sizeof(parsed_out->to.v6);
		return inet_pton(AF_INET6, host + 1, &parsed_out->to.v6.sin6_addr) == 1;
	}
	parsed_out->to.v4.sin_family = AF_INET;
	parsed_out->to.v4.sin_port = htons(port);
	parsed_out->size = sizeof(parsed_out->to.v4);
	return inet_pton(AF_INET, text_equals(host, "localhost") ? "127.0.0.1" : host,
		       &parsed_out->to.v4.sin_addr) == 1;
}

bool endpoint_is_valid(const char *address)
{
	struct socket_address parsed;

	return parse(address, &parsed);
}

/* Nothing that is opened here blocks or survives into a child. */
static int open_socket(const struct socket_address *address)
{
	int handle = socket(address->to.any.sa_family, SOCK_STREAM, 0);

	if (handle < 0)
		return -1;
	if (fcntl(handle, F_SETFD, FD_CLOEXEC) == 0 && fcntl(handle, F_SETFL, O_NONBLOCK) == 0)
		return handle;
	(void)close(handle);
	return -1;
}

static uint16_t bound_port(int handle)
{
	struct socket_address bound = { .size = sizeof(bound.to) };

	if (getsockname(handle, &bound.to.any, &bound.size) != 0)
		return 0;
	return ntohs(
		bound.to.any.sa_family == AF_INET6 ? bound.to.v6.sin6_port : bound.to.v4.sin_port);
}

enum result endpoint_listen(
	const char *address, int *socket_out, uint16_t *port_out, struct error *error)
{
	struct socket_address parsed;
	int yes = 1;

	*socket_out = -1;
	if (!parse(address, &parsed))
		return error_set(RESULT_PERMANENT, error, "listen on %s: no HOST:PORT", address);
	int handle = open_socket(&parsed);
	/* A restarted program takes its port back at once. */
	if (handle < 0 || setsockopt(handle, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) != 0 ||
		bind(handle, &parsed.to.any, parsed.size) != 0 || listen(handle, BACKLOG) != 0) {
		enum result result = error_set(
			RESULT_PERMANENT, error, "listen on %s: %s", address, strerror(errno));
		if (handle >= 0)
			(void)close(handle);
		return result;
	}
	*socket_out = handle;
	*port_out = bound_port(handle);
	return RESULT_OK;
}

static void turn_to_loopback(struct socket_address *address)
{
	if (address->to.any.sa_family == AF_INET6) {
		if (IN6_IS_ADDR_UNSPECIFIED(&address->to.v6.sin6_addr))
			address->to.v6.sin6_addr = in6addr_loopback;
	} else if (address->to.v4.sin_addr.s_addr == htonl(INADDR_ANY)) {
		address->to.v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	}
}

/* False when the time is over. */
static bool wait_for(int handle, short events, uint64_t end_ms)
{
	for (;;) {
		struct pollfd wanted = { .fd = handle, .events = events };
		uint64_t now_ms = clock_now_ms();

		if (now_ms >= end_ms)
			return false;
		int ready = poll(&wanted, 1, (int)(end_ms - now_ms));
		if (ready > 0)
			return true;
		if (ready < 0 && errno != EINTR)
			return false;
	}
}

static bool connect_by(int handle, const struct socket_address *address, uint64_t end_ms)
{
	int problem = 0;
	socklen_t size = sizeof(problem);

	if (connect(handle, &address->to.any, address->size) == 0)
		return true;
	if (errno != EINPROGRESS)
		return false;
	if (!wait_for(handle, POLLOUT, end_ms)) {
		errno = ETIMEDOUT;
		return false;
	}
	if (getsockopt(handle, SOL_SOCKET, SO_ERROR, &problem, &size) == 0)
		errno = problem;
	return problem == 0;
}

/* Reads no more than the status line needs: "HTTP/1.1 200". */
static bool read_status(int handle, uint64_t end_ms, unsigned int *status_out)
{
	char line[STATUS_LINE_SIZE + 1] = { 0 };
	size_t length = 0;
	uint64_t status = 0;

	while (length < STATUS_LINE_SIZE && wait_for(handle, POLLIN, end_ms)) {
		ssize_t got = recv(handle, line + length, STATUS_LINE_SIZE - length, 0);

		if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
			return false;
		length += got > 0 ? (size_t)got : 0;
	}
	if (length < STATUS_LINE_SIZE || !text_starts_with(line, "HTTP/1.") ||
		!text_parse_uint(line + sizeof("HTTP/1.1"), 100, 999, &status))
		return false;
	*status_out = (unsigned int)status;
	return true;
}

static enum result ask(int handle, const char *path, uint64_t end_ms, unsigned int *status_out,
	struct error *error)
{
	char request[REQUEST_SIZE];

	if (!text_format(request, sizeof(request),
		    "GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", path))
		return error_set(RESULT_PERMANENT, error, "the path is too long");
	size_t size = strlen(request);
	/* So little always fits into the buffer of a fresh connection. */
	if (send(handle, request, size, MSG_NOSIGNAL) != (ssize_t)size)
		return error_set(RESULT_TEMPORARY, error, "send: %s", strerror(errno));
	if (!read_status(handle, end_ms, status_out))
		return error_set(RESULT_TEMPORARY, error, "no answer");
	return RESULT_OK;
}

enum result endpoint_probe(const char *address, const char *path, uint64_t time_limit_ms,
	unsigned int *status_out, struct error *error)
{
	uint64_t end_ms = clock_now_ms() + time_limit_ms;
	enum result result = RESULT_TEMPORARY;
	struct socket_address parsed;

	if (!parse(address, &parsed))
		return error_set(RESULT_PERMANENT, error, "%s is no HOST:PORT", address);
	turn_to_loopback(&parsed);
	int handle = open_socket(&parsed);
	if (handle < 0 || !connect_by(handle, &parsed, end_ms))
		result = error_set(RESULT_TEMPORARY, error, "connect: %s", strerror(errno));
	else
		result = ask(handle, path, end_ms, status_out, error);
	if (handle >= 0)
		(void)close(handle);
	return error_context(result, error, "ask %s", address);
}
