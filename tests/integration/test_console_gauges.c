/* Figures of the fleet: from one console only, from another one when it ends, from none without
 * MySQL; and a limit that is passed calls somebody. */
#include <string.h>

#include "common/base/clock.h"
#include "common/base/compiler.h"
#include "common/base/text.h"
#include "common/io/json.h"
#include "tests/support/console.h"
#include "tests/support/daemon.h"
#include "tests/support/dashboard.h"
#include "tests/support/http_client.h"
#include "tests/support/http_stub.h"
#include "tests/support/orders.h"
#include "tests/support/process.h"
#include "tests/support/proxy.h"
#include "tests/support/query.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"
#include "tests/support/wait_until.h"

enum {
	PROBE_MS = 2000,
	TWO_SNAPSHOTS_MS = 22000,
	MARGIN_MS = 20000, /* of a busy machine */
};

static struct sandbox *sandbox;
static struct query *query;
static struct http_stub *ops;
static struct console_run first;
static struct daemon one;
static struct daemon two;

static void set_up(void)
{
	sandbox_create(SANDBOX_NO_BROKER, &sandbox);
	query = sandbox_query(sandbox);
}

static void tear_down(void)
{
	console_leave(&first);
	http_stub_destroy(&ops);
	sandbox_destroy(&sandbox);
}

static void start_first(void)
{
	one.port = sandbox_free_port();
	sandbox_set(sandbox, "LAPSE_OPS_ADDR", "127.0.0.1:%u", one.port);
	console_start(&first, sandbox);
	sandbox_unset(sandbox, "LAPSE_OPS_ADDR");
	one.process = first.process;
	WAIT_UNTIL(daemon_is_ready, &one);
}

static void start_second(void)
{
	sandbox_set(sandbox, "LAPSE_CONSOLE_ADDR", "127.0.0.1:%u", sandbox_free_port());
	daemon_start_ready(sandbox, "lapse-console", &two);
}

static bool is_exporting(void *daemon)
{
	return daemon_metric(daemon, "lapse_snapshot_leader") == 1 &&
	       daemon_metric(daemon, "lapse_orders_waiting") >= 0;
}

static bool is_silent(void *daemon)
{
	return daemon_metric(daemon, "lapse_snapshot_leader") == 0 &&
	       daemon_metric(daemon, "lapse_orders_waiting") < 0 &&
	       daemon_metric(daemon, "lapse_snapshot_timestamp_seconds") < 0;
}

START_TEST(one_of_two_exports_and_the_other_takes_over_when_it_is_killed)
{
	orders_insert_one(query, "W1", 3600000);
	orders_insert_one(query, "O1", -60000);
	start_first();
	WAIT_UNTIL(is_exporting, &one);
	start_second();
	WAIT_UNTIL(is_silent, &two);
	ck_assert(daemon_metric(&one, "lapse_orders_waiting") == 1);
	ck_assert(daemon_metric(&one, "lapse_orders_overdue") == 1);
	ck_assert(daemon_metric(&one, "lapse_orders_overdue_oldest_age_seconds") >= 60);

	sandbox_kill(sandbox, one.process);
	ck_assert_msg(wait_until(is_exporting, &two, TWO_SNAPSHOTS_MS + MARGIN_MS),
		"the figures were not handed over");
	ck_assert(daemon_metric(&two, "lapse_orders_overdue") == 1);
}
END_TEST

static unsigned int ask(const struct daemon *daemon, const char *path)
{
	return http_client_get(daemon->port, path, PROBE_MS, NULL);
}

static bool shows_errors(void *daemon)
{
	return daemon_metric(daemon, "lapse_snapshot_errors_total{query=\"overdue\"}") > 0;
}

START_TEST(without_mysql_there_are_no_figures_and_no_zeros)
{
	struct proxy *mysql = sandbox_proxy_mysql(sandbox);

	start_first();
	WAIT_UNTIL(is_exporting, &one);
	proxy_refuse(mysql, true);
	WAIT_UNTIL(is_silent, &one);
	WAIT_UNTIL(shows_errors, &one);
	WAIT_UNTIL(daemon_is_not_ready, &one);
	ck_assert_uint_eq(ask(&one, "/livez"), 200);
	ck_assert_uint_eq(ask(&one, "/metrics"), 200);
	ck_assert(daemon_metric(&one, "lapse_orders_overdue") < 0);
	ck_assert(process_is_alive(one.process));
	proxy_refuse(mysql, false);
	WAIT_UNTIL(is_exporting, &one);
	WAIT_UNTIL(daemon_is_ready, &one);
}
END_TEST

static bool is_told(void *context)
{
	const char *words = context;
	char body[HTTP_STUB_BODY_SIZE];

	for (uint64_t i = 0; http_stub_get_body(ops, i, body); i++)
		if (strstr(body, words) != NULL)
			return true;
	return false;
}

START_TEST(a_limit_that_is_passed_calls_somebody_without_prometheus)
{
	static char fires[] = "\"alertname\":\"LapseRefundOpen\"";
	static char resolved[] = "\"status\":\"resolved\"";
	char url[HTTP_STUB_URL_SIZE];

	http_stub_create(&ops);
	http_stub_accept_path(ops, "/hook");
	http_stub_format_url(ops, url);
	sandbox_set(sandbox, "LAPSE_ALERT_TARGETS", "ops");
	sandbox_set(sandbox, "LAPSE_ALERT_OPS_URL", "%s/hook", url);
	sandbox_set(sandbox, "LAPSE_ALERT_GROUP_WAIT", "0s");
	sandbox_set(sandbox, "LAPSE_ALERT_THRESHOLDS", "on");
	query_run(query,
		"INSERT INTO t_payment (channel, trade_no, order_no, amount_cents, currency, "
		"outcome, refund_state, created_at) VALUES ('pay', 'T1', 'O1', 1, 'CNY', 'LATE', "
		"'PENDING', UTC_TIMESTAMP(3) - INTERVAL 16 MINUTE)");
	start_first();
	(void)sandbox_start(sandbox, "lapse-retry", NULL);
	WAIT_UNTIL(is_told, fires);
	query_run(query, "UPDATE t_payment SET refund_state = 'DONE'");
	WAIT_UNTIL(is_told, resolved);
}
END_TEST

/* An unknown filter or value would be answered 400. */
START_TEST(every_link_of_the_dashboard_leads_to_a_page)
{
	static const char address[] = "${console}";
	struct json *root = dashboard_read();
	const struct json *panels = json_get(root, "panels");
	size_t followed = 0;

	start_first();
	for (size_t i = 0; i < json_count(panels); i++) {
		const struct json *links = json_get(json_at(panels, i), "links");

		for (size_t k = 0; links != NULL && k < json_count(links); k++, followed++) {
			const char *url = json_get_text(json_at(links, k), "url");

			ck_assert(text_starts_with(url, address));
			const struct api_answer *answer =
				console_get(&first, "vera", url + strlen(address));
			/* Without a broker there is nothing parked to show. */
			ck_assert_msg(answer->status == 200 || answer->status == 503, "%u: %s",
				answer->status, url);
		}
	}
	json_destroy(&root);
	ck_assert_uint_gt(followed, 20);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		one_of_two_exports_and_the_other_takes_over_when_it_is_killed,
		without_mysql_there_are_no_figures_and_no_zeros,
		a_limit_that_is_passed_calls_somebody_without_prometheus,
		every_link_of_the_dashboard_leads_to_a_page,
	};
	const struct runner_fixture fixture = { set_up, tear_down };

	sandbox_need_servers();
	return runner_run_with("console_gauges", &fixture, tests, ARRAY_LENGTH(tests));
}
