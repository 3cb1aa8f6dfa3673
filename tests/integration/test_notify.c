/* A daemon tells its service manager: ready, alive, stopping. */
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/base/compiler.h"
#include "common/base/text.h"
#include "tests/support/process.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"
#include "tests/support/wait_until.h"

enum {
	WORDS_SIZE = 256,
	ALIVE_WANTED = 4,
};

static struct sandbox *sandbox;
static int manager;
static size_t ready, alive, stopping, strange;

/* An abstract socket, which leaves no file behind. */
static void open_manager(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	char name[64];

	(void)text_format(name, sizeof(name), "@%s", sandbox_name(sandbox));
	memcpy(address.sun_path, name, strlen(name));
	address.sun_path[0] = '\0';
	manager = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	ck_assert_int_ge(manager, 0);
	ck_assert_int_eq(
		bind(manager, (struct sockaddr *)&address,
			(socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(name))),
		0);
	sandbox_set(sandbox, "NOTIFY_SOCKET", "%s", name);
}

static void set_up(void)
{
	ready = alive = stopping = strange = 0;
	sandbox_create(SANDBOX_NO_BROKER, &sandbox);
	open_manager();
}

static void tear_down(void)
{
	(void)close(manager);
	sandbox_destroy(&sandbox);
}

static void take(void)
{
	char words[WORDS_SIZE];
	ssize_t size;

	while ((size = recv(manager, words, sizeof(words) - 1, MSG_DONTWAIT)) > 0) {
		words[size] = '\0';
		if (text_equals(words, "READY=1"))
			ready++;
		else if (text_equals(words, "WATCHDOG=1"))
			alive++;
		else if (text_equals(words, "STOPPING=1"))
			stopping++;
		else
			strange++;
	}
}

static bool is_ready(void *context)
{
	(void)context;
	take();
	return ready == 1;
}

static bool is_alive(void *context)
{
	(void)context;
	take();
	return alive >= ALIVE_WANTED;
}

START_TEST(ready_alive_and_stopping_are_told)
{
	sandbox_set(sandbox, "WATCHDOG_USEC", "2000000");
	struct process *process = sandbox_start(sandbox, "lapse-sweeper", NULL);
	WAIT_UNTIL(is_ready, NULL);
	ck_assert_uint_eq(stopping, 0);
	WAIT_UNTIL(is_alive, NULL);
	sandbox_stop_all(sandbox, WAIT_LIMIT_MS);
	take();
	ck_assert(!process_is_alive(process));
	ck_assert_uint_eq(ready, 1);
	ck_assert_uint_eq(stopping, 1);
	ck_assert_uint_eq(strange, 0);
}
END_TEST

/* A service is up when its loop turns: waiting for a server is its work as well. */
START_TEST(a_server_that_is_away_does_not_delay_ready)
{
	sandbox_set(
		sandbox, "LAPSE_MYSQL_URL", "mysql://u:p@127.0.0.1:%u/lapse", sandbox_free_port());
	(void)sandbox_start(sandbox, "lapse-sweeper", NULL);
	WAIT_UNTIL(is_ready, NULL);
}
END_TEST

START_TEST(a_watchdog_meant_for_another_process_is_not_answered)
{
	sandbox_set(sandbox, "WATCHDOG_USEC", "2000000");
	sandbox_set(sandbox, "WATCHDOG_PID", "1");
	(void)sandbox_start(sandbox, "lapse-sweeper", NULL);
	WAIT_UNTIL(is_ready, NULL);
	sandbox_stop_all(sandbox, WAIT_LIMIT_MS);
	take();
	ck_assert_uint_eq(stopping, 1);
	ck_assert_uint_eq(alive, 0);
}
END_TEST

int main(void)
{
	static const struct runner_fixture fixture = { set_up, tear_down };
	const TTest *const tests[] = {
		ready_alive_and_stopping_are_told,
		a_server_that_is_away_does_not_delay_ready,
		a_watchdog_meant_for_another_process_is_not_answered,
	};

	sandbox_need_servers();
	return runner_run_with("notify", &fixture, tests, ARRAY_LENGTH(tests));
}
