#include "tests/support/listener.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/base/random.h"

enum {
	PORT_FIRST = 10000,
	PORT_COUNT = 9000,
	TRIES = 100,
	BACKLOG = 512
};

static struct sockaddr_in loopback(uint16_t port)
{
	return (struct sockaddr_in){ .sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr = { .s_addr = htonl(INADDR_LOOPBACK) } };
}

static int open_socket(void)
{
	int handle = socket(AF_INET, SOCK_STREAM, 0);
	int one = 1;

	if (handle < 0)
		return -1;
	(void)fcntl(handle, F_SETFD, FD_CLOEXEC);
	(void)setsockopt(handle, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	return handle;
}

static bool bind_port(int handle, uint16_t port)
{
	struct sockaddr_in address = loopback(port);
	int one = 1;

	(void)setsockopt(handle, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	return bind(handle, (const struct sockaddr *)&address, sizeof(address)) == 0 &&
	       listen(handle, BACKLOG) == 0 && fcntl(handle, F_SETFL, O_NONBLOCK) == 0;
}

int listener_open(uint16_t *port)
{
	for (int i = 0; i < TRIES; i++) {
		uint16_t wanted =
			*port != 0 ? *port : (uint16_t)(PORT_FIRST + random_up_to(PORT_COUNT - 1));
		int handle = open_socket();

		if (handle >= 0 && bind_port(handle, wanted)) {
			*port = wanted;
			return handle;
		}
		if (handle >= 0)
			(void)close(handle);
	}
	return -1;
}

int listener_connect(uint16_t port)
{
	struct sockaddr_in address = loopback(port);
	int handle = open_socket();

	if (handle < 0)
		return -1;
	if (connect(handle, (const struct sockaddr *)&address, sizeof(address)) != 0 ||
		fcntl(handle, F_SETFL, O_NONBLOCK) != 0) {
		(void)close(handle);
		return -1;
	}
	return handle;
}
