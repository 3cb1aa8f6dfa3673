/* Consumers and sweepers are gone: the lateness of what did close looks as good as before, the
 * orders that did not close are counted, and somebody is called, with and without Prometheus. */
#include <stdlib.h>
#include <string.h>

#include "common/base/text.h"
#include "common/io/json.h"
#include "tests/support/console.h"
#include "tests/support/daemon.h"
#include "tests/support/http_stub.h"
#include "tests/support/orders.h"
#include "tests/support/process.h"
#include "tests/support/prometheus.h"
#include "tests/support/query.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"
#include "tests/support/wait_until.h"

enum {
	ORDERS = 60,
	OVERDUE = 7,
	RING_LIMIT_MS = 150000, /* a minute until the rule fires, and a busy machine */
	TEXT_MAX = 65536,
	VALUE_SIZE = 64,
};

static struct sandbox *sandbox;
static struct query *query;
static struct http_stub *ops;
static struct console_run console;
static struct daemon watcher;
static struct daemon producer;
static struct daemon consumer;
static struct prometheus *prometheus;

static void set_up(void)
{
	char url[HTTP_STUB_URL_SIZE];

	sandbox_create(SANDBOX_EVERYTHING, &sandbox);
	query = sandbox_query(sandbox);
	http_stub_create(&ops);
	http_stub_accept_path(ops, "/hook");
	http_stub_format_url(ops, url);
	sandbox_set(sandbox, "LAPSE_ALERT_TARGETS", "ops");
	sandbox_set(sandbox, "LAPSE_ALERT_OPS_URL", "%s/hook", url);
	sandbox_set(sandbox, "LAPSE_ALERT_GROUP_WAIT", "0s");
	sandbox_set(sandbox, "LAPSE_ALERT_THRESHOLDS", "on");
}

static void tear_down(void)
{
	prometheus_destroy(&prometheus);
	console_leave(&console);
	http_stub_destroy(&ops);
	sandbox_destroy(&sandbox);
}

static void start_all(void)
{
	watcher.port = sandbox_free_port();
	sandbox_set(sandbox, "LAPSE_OPS_ADDR", "127.0.0.1:%u", watcher.port);
	console_start(&console, sandbox);
	watcher.process = console.process;
	sandbox_unset(sandbox, "LAPSE_OPS_ADDR");
	daemon_start_ready(sandbox, "lapse-producer", &producer);
	daemon_start_ready(sandbox, "lapse-consumer", &consumer);
	(void)sandbox_start(sandbox, "lapse-retry", NULL);
	const uint16_t ports[] = { watcher.port, producer.port, consumer.port };
	prometheus_create(ports, ARRAY_LENGTH(ports), &prometheus);
}

/* A figure of the overview by the beginning of its title; false while it cannot be told. */
static bool read_figure(const char *title, char value[VALUE_SIZE], char level[VALUE_SIZE])
{
	const struct api_answer *answer = console_get(&console, "robot", "/api/v1/");
	struct json *root = NULL;
	bool is_found = false;

	if (answer->status != 200 ||
		json_parse(answer->body, strlen(answer->body), TEXT_MAX, &root, NULL) != RESULT_OK)
		return false;
	const struct json *figures = json_get(root, "figures");
	for (size_t i = 0; i < json_count(figures) && !is_found; i++) {
		const struct json *figure = json_at(figures, i);
		const char *text = json_get_text(figure, "value");

		is_found = text != NULL && text_starts_with(json_get_text(figure, "title"), title);
		if (is_found) {
			(void)text_format(
				value, VALUE_SIZE, "%s; %s", text, json_get_text(figure, "note"));
			(void)text_copy(level, VALUE_SIZE, json_get_text(figure, "level"));
		}
	}
	json_destroy(&root);
	return is_found;
}

static bool counts_all_closes(void *context)
{
	(void)context;
	return daemon_metric(&consumer, "lapse_close_lag_seconds_count{source=\"message\"}") ==
	       ORDERS;
}

static bool counts_overdue(void *context)
{
	(void)context;
	return daemon_metric(&watcher, "lapse_orders_overdue") == OVERDUE;
}

static bool is_lateness_known(void *value)
{
	char level[VALUE_SIZE];

	return read_figure("Lateness", value, level) && strstr(value, "n = 60") != NULL;
}

static bool is_told(void *context)
{
	char body[HTTP_STUB_BODY_SIZE];

	(void)context;
	for (uint64_t i = 0; http_stub_get_body(ops, i, body); i++)
		if (strstr(body, "\"alertname\":\"LapseOverdue\"") != NULL)
			return true;
	return false;
}

START_TEST(orders_that_nobody_closes_are_seen_although_the_percentile_is_perfect)
{
	char before[VALUE_SIZE];
	char after[VALUE_SIZE];
	char level[VALUE_SIZE];

	start_all();
	orders_insert_many(query,
		&(struct orders_plan){
			.prefix = "A", .count = ORDERS, .due_in_ms = 1500, .spread_ms = 500 });
	WAIT_UNTIL(counts_all_closes, NULL);
	WAIT_UNTIL(is_lateness_known, before);
	prometheus_await_query(
		prometheus, "sum(lapse_close_lag_seconds_count{source=\"message\"})", ",\"60\"]");
	daemon_stop(&consumer, WAIT_LIMIT_MS);

	/* As if nobody had been there for three minutes. */
	orders_insert_many(query, &(struct orders_plan){ .prefix = "B",
					  .count = OVERDUE,
					  .due_in_ms = -180000,
					  .has_no_events = true });
	WAIT_UNTIL(counts_overdue, NULL);
	WAIT_UNTIL_WITHIN(is_told, NULL, RING_LIMIT_MS);
	prometheus_await(prometheus,
		"/api/v1/query?query=ALERTS%7Balertname=%22LapseOverdue%22,"
		"alertstate=%22firing%22%7D",
		"\"value\"", RING_LIMIT_MS);

	/* An idle line may have been closed by the console meanwhile. */
	WAIT_UNTIL(is_lateness_known, after);
	ck_assert_str_eq(after, before);
	ck_assert(read_figure("Overdue", after, level));
	ck_assert_str_eq(level, "bad");
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		orders_that_nobody_closes_are_seen_although_the_percentile_is_perfect,
	};
	const struct runner_fixture fixture = { set_up, tear_down };

	sandbox_need_servers();
	return runner_run_with("overdue_rings", &fixture, tests, ARRAY_LENGTH(tests));
}
