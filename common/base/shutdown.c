#include "common/base/shutdown.h"

#include <signal.h>
#include <stddef.h>
#include <unistd.h>

#include "common/base/result.h"

static volatile sig_atomic_t stop_signalled;
static volatile sig_atomic_t stop_requested; /* by the program itself */
static volatile sig_atomic_t reload_requested;
static volatile sig_atomic_t dump_requested;

static void on_signal(int number)
{
	switch (number) {
	case SIGHUP:
		reload_requested = 1;
		break;
	case SIGUSR1:
		dump_requested = 1;
		break;
	default:
		if (stop_signalled != 0)
			_exit(EXIT_STATUS_FAILED);
		stop_signalled = 1;
		break;
	}
}

void shutdown_install(void)
{
	static const int numbers[] = { SIGTERM, SIGINT, SIGHUP, SIGUSR1 };
	/* No SA_RESTART: a signal must end the wait it arrives in. */
	struct sigaction action = { .sa_handler = on_signal };
	struct sigaction ignore = { .sa_handler = SIG_IGN };

	(void)sigemptyset(&action.sa_mask);
	(void)sigemptyset(&ignore.sa_mask);
	for (size_t i = 0; i < ARRAY_LENGTH(numbers); i++)
		(void)sigaction(numbers[i], &action, NULL);
	(void)sigaction(SIGPIPE, &ignore, NULL);
}

bool shutdown_is_requested(void)
{
	return stop_signalled != 0 || stop_requested != 0;
}

void shutdown_request(void)
{
	stop_requested = 1;
}

bool shutdown_take_reload(void)
{
	bool requested = reload_requested != 0;

	reload_requested = 0;
	return requested;
}

bool shutdown_take_dump(void)
{
	bool requested = dump_requested != 0;

	dump_requested = 0;
	return requested;
}
