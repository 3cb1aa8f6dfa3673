/*
 * ops on a loopback port: what a probe, a container and Prometheus see, and that a crowd of slow
 * clients keeps nobody from seeing it.  The test plays the loop.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <check.h>

#include "common/base/clock.h"
#include "common/base/compiler.h"
#include "common/base/text.h"
#include "common/service/metrics.h"
#include "common/service/ops.h"
#include "common/service/process_metrics.h"
#include "tests/support/http_client.h"
#include "tests/support/listener.h"
#include "tests/support/runner.h"

enum {
	CROWD = 50,
	ROUNDS = 4,
	PROMISE_MS = 2000,
	ADDRESS_SIZE = 32,
	SCRAPES = 300,
	LEAK_MAX_BYTES = 1048576,
};

static const struct metric_family families[] = {
	{ .type = METRIC_TYPE_COUNTER, .name = "t_turns_total", .help = "Turns." },
	METRIC_END,
};

static char answer[HTTP_CLIENT_SIZE];

static void set_up(void)
{
	struct error error = { 0 };

	metrics_open();
	metrics_register(families);
	metrics_register(process_metrics_families);
	ops_add_check("mysql");
	ops_add_check("amqp");
	ck_assert_msg(ops_start("127.0.0.1:0", "lapse-test", "9.9.9", &error) == RESULT_OK, "%s",
		error.text);
}

static void tear_down(void)
{
	ops_stop();
	metrics_close();
}

static unsigned int get(const char *path)
{
	return http_client_get(ops_port(), path, PROMISE_MS, answer);
}

static void expect(const char *path, unsigned int status, const char *words)
{
	ck_assert_uint_eq(get(path), status);
	ck_assert_msg(
		strstr(answer, words) != NULL, "%s: no \"%s\" in \"%s\"", path, words, answer);
}

START_TEST(a_program_is_live_before_it_is_ready)
{
	expect("/livez", 200, "ok\n");
	expect("/readyz", 503, "[-]mysql: not yet\n[-]amqp: not yet\nnot ready\n");
}
END_TEST

START_TEST(it_is_ready_when_every_check_is_well)
{
	ops_set_check("mysql", true, NULL);
	ck_assert(!ops_is_ready());
	expect("/readyz", 503, "[-]amqp: not yet");
	ck_assert_ptr_null(strstr(answer, "mysql"));
	ops_set_check("amqp", true, "connected");
	ck_assert(ops_is_ready());
	expect("/readyz", 200, "ok\n");
	ops_set_check("nothing of ours", false, NULL);
	ck_assert(ops_is_ready());
}
END_TEST

START_TEST(verbose_lists_program_version_and_every_check)
{
	ops_set_check("mysql", true, NULL);
	ops_set_check("amqp", false, "connecting (attempt 4)");
	expect("/readyz?verbose", 503,
		"lapse-test 9.9.9\n[+]mysql\n[-]amqp: connecting (attempt 4)\nnot ready\n");
	ops_set_check("amqp", true, NULL);
	expect("/readyz?verbose", 200, "lapse-test 9.9.9\n[+]mysql\n[+]amqp\nok\n");
}
END_TEST

START_TEST(a_reason_is_one_clean_line_of_bounded_length)
{
	char reason[2000];

	memset(reason, 'r', sizeof(reason) - 1);
	reason[sizeof(reason) - 1] = '\0';
	memcpy(reason, "line\nbreak \xff", 12);
	ops_set_check("mysql", false, reason);
	expect("/readyz", 503, "[-]mysql: line?break ?rrrr");
	ck_assert_ptr_nonnull(strstr(answer, "r\n[-]amqp: not yet\n"));
}
END_TEST

START_TEST(a_program_that_was_asked_to_stop_is_not_ready_but_live)
{
	ops_set_check("mysql", true, NULL);
	ops_set_check("amqp", true, NULL);
	ops_set_draining();
	expect("/readyz", 503, "[-]draining");
	expect("/livez", 200, "ok");
}
END_TEST

START_TEST(metrics_have_the_exact_content_type_and_end_with_a_newline)
{
	metrics_add(&families[0], 0, 3);
	expect("/metrics", 200, "\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n");
	expect("/metrics", 200,
		"\r\n\r\n# HELP t_turns_total Turns.\n"
		"# TYPE t_turns_total counter\nt_turns_total 3\n");
	ck_assert_int_eq(answer[strlen(answer) - 1], '\n');
	ck_assert(http_client_metric(ops_port(), "process_resident_memory_bytes") > 1e6);
	ck_assert(http_client_metric(ops_port(), "process_start_time_seconds") > 1e9);
	ck_assert(http_client_metric(ops_port(), "process_open_fds") >= 3);
	ck_assert(http_client_metric(ops_port(), "process_max_fds") >= 3);
	ck_assert(http_client_metric(ops_port(), "process_cpu_seconds_total") >= 0);
}
END_TEST

START_TEST(a_healthcheck_says_the_same_as_the_port)
{
	char address[ADDRESS_SIZE];

	/* As compose sets it: all interfaces, asked over loopback. */
	(void)text_format(address, sizeof(address), "0.0.0.0:%u", ops_port());
	ck_assert_int_eq(ops_healthcheck(address, true), EXIT_STATUS_OK);
	ck_assert_int_eq(ops_healthcheck(address, false), EXIT_STATUS_FAILED);
	ops_set_check("mysql", true, NULL);
	ops_set_check("amqp", true, NULL);
	ck_assert_int_eq(ops_healthcheck(address, false), EXIT_STATUS_OK);
	ops_stop();
	ck_assert_int_eq(ops_healthcheck(address, true), EXIT_STATUS_FAILED);
	ck_assert_int_eq(ops_healthcheck("nonsense", true), EXIT_STATUS_FAILED);
	ck_assert_int_eq(ops_healthcheck(NULL, true), EXIT_STATUS_FAILED);
}
END_TEST

static void check_promises(void)
{
	static const char *const paths[] = { "/metrics", "/livez" };

	for (size_t i = 0; i < ARRAY_LENGTH(paths); i++) {
		uint64_t begin_ms = clock_now_ms();

		ck_assert_uint_eq(get(paths[i]), 200);
		ck_assert_uint_lt(clock_now_ms() - begin_ms, PROMISE_MS);
	}
}

/* Each socket sends one byte per round, as a client on a very bad line does. */
START_TEST(fifty_slow_clients_hold_up_nobody)
{
	static const char request[] = "GET /metrics";
	int crowd[CROWD];

	for (size_t i = 0; i < CROWD; i++) {
		crowd[i] = listener_connect(ops_port());
		ck_assert_int_ge(crowd[i], 0);
	}
	for (int round = 0; round < ROUNDS; round++) {
		for (size_t i = 0; i < CROWD; i++)
			(void)send(crowd[i], request + round, 1, MSG_NOSIGNAL);
		check_promises();
	}
	for (size_t i = 0; i < CROWD; i++)
		(void)close(crowd[i]);
	check_promises();
}
END_TEST

/* More than there are places. */
START_TEST(hundreds_of_idle_connections_hold_up_nobody)
{
	int crowd[CROWD * 6];

	for (size_t i = 0; i < ARRAY_LENGTH(crowd); i++)
		crowd[i] = listener_connect(ops_port());
	check_promises();
	for (size_t i = 0; i < ARRAY_LENGTH(crowd); i++)
		(void)close(crowd[i]);
}
END_TEST

START_TEST(clients_that_go_away_in_the_middle_do_no_harm)
{
	static const char request[] = "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n";

	for (int i = 0; i < CROWD; i++) {
		int handle = listener_connect(ops_port());
		const struct linger at_once = { .l_onoff = 1 };

		(void)send(handle, request, strlen(request), MSG_NOSIGNAL);
		(void)setsockopt(handle, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
		(void)close(handle);
	}
	check_promises();
}
END_TEST

START_TEST(many_scrapes_leave_memory_flat)
{
	for (int i = 0; i < SCRAPES; i++)
		ck_assert_uint_eq(get("/metrics"), 200);
	double before = http_client_metric(ops_port(), "process_resident_memory_bytes");
	for (int i = 0; i < SCRAPES; i++)
		ck_assert_uint_eq(get("/metrics"), 200);
	double after = http_client_metric(ops_port(), "process_resident_memory_bytes");
	/* A sanitizer maps terabytes and keeps what is freed; it finds leaks by itself. */
	if (http_client_metric(ops_port(), "process_virtual_memory_bytes") > 1e12)
		return;
	ck_assert_msg(after - before < LEAK_MAX_BYTES, "%.0f bytes more", after - before);
}
END_TEST

/* The loop writes while others read; meant for the thread sanitizer. */
START_TEST(a_text_is_never_a_mixture_of_two)
{
	static const char one[] = "111111111111111111111111111111111111111111111111111111111111";
	static const char two[] = "222222222222222222222222222222222222222222222222222222222222";

	for (int i = 0; i < ROUNDS * CROWD; i++) {
		for (int k = 0; k < CROWD; k++) {
			ops_set_check("mysql", false, k % 2 == 0 ? one : two);
			ops_note_turn();
		}
		if (i % ROUNDS != 0)
			continue;
		ck_assert_uint_eq(get("/readyz"), 503);
		ck_assert(strstr(answer, one) != NULL || strstr(answer, two) != NULL);
	}
}
END_TEST

START_TEST(an_address_in_use_is_a_failure)
{
	char address[ADDRESS_SIZE];
	struct error error = { 0 };

	uint16_t port = 0;
	int taken = listener_open(&port);
	ck_assert_int_ge(taken, 0);
	ops_stop();
	(void)text_format(address, sizeof(address), "127.0.0.1:%u", port);
	ck_assert_int_eq(ops_start(address, "lapse-test", "9.9.9", &error), RESULT_PERMANENT);
	ck_assert_ptr_nonnull(strstr(error.text, address));
	(void)close(taken);
}
END_TEST

START_TEST(without_an_address_there_is_no_port)
{
	struct error error = { 0 };

	ops_stop();
	ck_assert_int_eq(ops_start(NULL, "lapse-test", "9.9.9", &error), RESULT_OK);
	ck_assert_uint_eq(ops_port(), 0);
	ops_stop();
	ops_stop();
}
END_TEST

int main(void)
{
	static const struct runner_fixture fixture = { set_up, tear_down };
	const TTest *const tests[] = {
		a_program_is_live_before_it_is_ready,
		it_is_ready_when_every_check_is_well,
		verbose_lists_program_version_and_every_check,
		a_reason_is_one_clean_line_of_bounded_length,
		a_program_that_was_asked_to_stop_is_not_ready_but_live,
		metrics_have_the_exact_content_type_and_end_with_a_newline,
		a_healthcheck_says_the_same_as_the_port,
		fifty_slow_clients_hold_up_nobody,
		hundreds_of_idle_connections_hold_up_nobody,
		clients_that_go_away_in_the_middle_do_no_harm,
		many_scrapes_leave_memory_flat,
		a_text_is_never_a_mixture_of_two,
		an_address_in_use_is_a_failure,
		without_an_address_there_is_no_port,
	};

	return runner_run_with("ops", &fixture, tests, ARRAY_LENGTH(tests));
}
