#include "common/service/notify.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/text.h"

enum {
	SHARE_OF_INTERVAL = 4 /* so that one datagram may be late */
};

static struct {
	int socket; /* 0: nobody asks */
	struct sockaddr_un address;
	socklen_t address_size;
	uint64_t interval_ms; /* between two signs of life; 0: no watchdog */
	uint64_t told_ms;
} notify;

/* A path, or "@name" for one in the abstract namespace, which begins with a NUL byte. */
static bool set_address(const char *path)
{
	size_t length = strlen(path);

	notify.address = (struct sockaddr_un){ .sun_family = AF_UNIX };
	if ((path[0] != '/' && path[0] != '@') || length < 2 ||
		length >= sizeof(notify.address.sun_path))
		return false;
	memcpy(notify.address.sun_path, path, length);
	if (path[0] == '@')
		notify.address.sun_path[0] = '\0';
	notify.address_size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length);
	return true;
}

/* The watchdog may be meant for another process that passed its environment on. */
static void set_interval(void)
{
	const char *interval = getenv("WATCHDOG_USEC");
	const char *pid = getenv("WATCHDOG_PID");
	uint64_t number = 0;

	notify.interval_ms = 0;
	if (pid != NULL &&
		(!text_parse_uint(pid, 1, INT32_MAX, &number) || number != (uint64_t)getpid()))
		return;
	if (interval != NULL && text_parse_uint(interval, 1, UINT64_MAX, &number))
		notify.interval_ms = number / 1000 / SHARE_OF_INTERVAL;
}

static void tell(const char *words)
{
	if (notify.socket > 0)
		(void)sendto(notify.socket, words, strlen(words), MSG_DONTWAIT | MSG_NOSIGNAL,
			(const struct sockaddr *)&notify.address, notify.address_size);
}

void notify_open(void)
{
	const char *path = getenv("NOTIFY_SOCKET");

	notify_close();
	if (path != NULL && set_address(path)) {
		set_interval();
		int handle = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
		notify.socket = handle > 0 ? handle : 0;
	}
	(void)unsetenv("NOTIFY_SOCKET");
	(void)unsetenv("WATCHDOG_USEC");
	(void)unsetenv("WATCHDOG_PID");
}

void notify_close(void)
{
	if (notify.socket > 0)
		(void)close(notify.socket);
	notify.socket = 0;
	notify.interval_ms = 0;
	notify.told_ms = 0;
}

void notify_ready(void)
{
	tell("READY=1");
}

void notify_stopping(void)
{
	tell("STOPPING=1");
}

void notify_alive(void)
{
	if (notify.interval_ms == 0)
		return;
	uint64_t now_ms = clock_now_ms();
	if (notify.told_ms != 0 && now_ms - notify.told_ms < notify.interval_ms)
		return;
	notify.told_ms = now_ms;
	tell("WATCHDOG=1");
}
