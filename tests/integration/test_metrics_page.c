/* The page of every program: what docs/metrics.md says, correct by a parser of its own, taken by a
 * real Prometheus, and as often as anybody likes. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/io/json.h"
#include "tests/support/daemon.h"
#include "tests/support/dashboard.h"
#include "tests/support/http_client.h"
#include "tests/support/metrics_doc.h"
#include "tests/support/orders.h"
#include "tests/support/process.h"
#include "tests/support/prometheus.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"
#include "tests/support/scratch.h"
#include "tests/support/wait_until.h"

enum {
	PAGE_LIMIT_MS = 5000,
	TOOL_LIMIT_MS = 30000,
	QUERY_SIZE = 512,
	SCRAPES = 10000,
	WARM_SCRAPES = 500,
#ifdef TEST_SANITIZED
	GROWTH_MAX_KIB = 16384, /* what is freed is kept for a while */
#else
	GROWTH_MAX_KIB = 512,
#endif
};

extern char **environ;

static const char *const programs[] = { "producer", "consumer", "sweeper", "retry", "gateway",
	"events", "console" };

static struct sandbox *sandbox;
static struct metrics_doc *doc;
static struct daemon daemons[ARRAY_LENGTH(programs)];
static size_t daemon_count;
static char *page; /* HTTP_CLIENT_SIZE, head and body */
static struct prometheus *prometheus;

static void set_up(void)
{
	sandbox_create(SANDBOX_EVERYTHING, &sandbox);
	(void)sandbox_stub(sandbox);
	metrics_doc_create(&doc);
	page = memory_allocate(HTTP_CLIENT_SIZE);
	daemon_count = 0;
}

static void tear_down(void)
{
	prometheus_destroy(&prometheus);
	metrics_doc_destroy(&doc);
	free(page);
	sandbox_destroy(&sandbox);
}

/* What some of them cannot start without. */
static void set_needs(void)
{
	char path[PATH_MAX];

	scratch_write("webhooks",
		"one ORDER_CLOSED http://127.0.0.1:9/hook whsec_MDEyMzQ1Njc4OWFi\n", path);
	sandbox_set(sandbox, "LAPSE_WEBHOOKS_FILE", "%s", path);
	sandbox_set(sandbox, "LAPSE_NOTIFY_SECRET", "the secret of this test");
	sandbox_set(sandbox, "LAPSE_GATEWAY_ADDR", "127.0.0.1:0");
	sandbox_set(sandbox, "LAPSE_ALERT_TARGETS", "ops");
	sandbox_set(sandbox, "LAPSE_ALERT_OPS_TYPE", "generic");
	sandbox_set(sandbox, "LAPSE_ALERT_OPS_URL", "http://127.0.0.1:9/alerts");
	scratch_write("users", "anna:admin:*\n", path);
	sandbox_set(sandbox, "LAPSE_CONSOLE_USERS_FILE", "%s", path);
	sandbox_set(sandbox, "LAPSE_CONSOLE_SECRET", "0123456789abcdef0123456789abcdef");
	sandbox_set(sandbox, "LAPSE_CONSOLE_ADDR", "127.0.0.1:0");
}

static void start_all(void)
{
	set_needs();
	for (size_t i = 0; i < ARRAY_LENGTH(programs); i++) {
		char name[64];

		(void)text_format(name, sizeof(name), "lapse-%s", programs[i]);
		if (sandbox_has_program(name))
			daemon_start(sandbox, name, &daemons[daemon_count++]);
	}
	for (size_t i = 0; i < daemon_count; i++)
		WAIT_UNTIL(daemon_is_ready, &daemons[i]);
}

/* The body of the page. */
static const char *read_page(const struct daemon *daemon)
{
	ck_assert_uint_eq(http_client_get(daemon->port, "/metrics", PAGE_LIMIT_MS, page), 200);
	ck_assert_msg(strstr(page, "\r\nContent-Type: text/plain; version=0.0.4; "
				   "charset=utf-8\r\n") != NULL,
		"%.500s", page);
	const char *body = strstr(page, "\r\n\r\n");
	ck_assert_ptr_nonnull(body);
	ck_assert_int_eq(body[strlen(body) - 1], '\n');
	return body + 4;
}

/* Exit status of a tool that reads the text from its standard input. */
static void run_promtool(const char *text)
{
	static const char *const words[] = { "check", "metrics", NULL };
	char path[PATH_MAX];
	struct process *tool = NULL;

	scratch_write("page", text, path);
	process_start(&(struct process_plan){ .program = "/usr/bin/promtool",
			      .arguments = words,
			      .environment = environ,
			      .folder = scratch_folder(),
			      .input = path },
		&tool);
	int status = process_wait(tool, TOOL_LIMIT_MS);
	char *output = process_everything(tool);
	ck_assert_msg(status == 0, "promtool: %d %s", status, output);
	free(output);
	process_destroy(&tool);
}

START_TEST(every_program_shows_what_the_document_says)
{
	start_all();
	for (size_t i = 0; i < daemon_count; i++) {
		const char *body = read_page(&daemons[i]);

		metrics_doc_check(doc, programs[i], body);
		run_promtool(body);
	}
}
END_TEST

/* ---- a real scrape */

static void start_prometheus(void)
{
	uint16_t ports[ARRAY_LENGTH(programs)];

	start_all();
	for (size_t i = 0; i < daemon_count; i++)
		ports[i] = daemons[i].port;
	prometheus_create(ports, daemon_count, &prometheus);
}

START_TEST(prometheus_takes_every_page_and_evaluates_the_rules)
{
	char all[64];

	start_prometheus();
	(void)text_format(all, sizeof(all), ",\"%zu\"]", daemon_count);
	prometheus_await_query(prometheus, "sum(up{job=\"lapse\"})", all);
	prometheus_await_query(prometheus, "count(lapse_build_info)", all);
	prometheus_await_query(prometheus,
		"count(lapse_close_lag_seconds_bucket{le=~\"1(\\\\.0)?\"})", "\"value\"");
	prometheus_await(prometheus, "/api/v1/rules", "LapseVersionsMixed", WAIT_LIMIT_MS);
	ck_assert_uint_eq(prometheus_get(prometheus, "/api/v1/rules", page), 200);
	ck_assert_ptr_null(strstr(page, "\"health\":\"err\""));
}
END_TEST

/* Grafana puts a time in place of its variable. */
static void set_variable(char *text, size_t size, const char *expression)
{
	static const char variable[] = "$__rate_interval";
	const char *found = strstr(expression, variable);

	if (found == NULL)
		ck_assert(text_copy(text, size, expression));
	else
		ck_assert(text_format(text, size, "%.*s1m%s", (int)(found - expression), expression,
			found + strlen(variable)));
}

/* What shows trouble only is empty when there is none. */
static bool shows_trouble_only(const char *expression)
{
	size_t length = strlen(expression);

	return length > 4 && (text_equals(expression + length - 4, " > 0") ||
				     text_equals(expression + length - 6, " == 0)"));
}

/* Does one of the targets of the panel give anything?  Each has to be understood. */
static bool has_data(void *context)
{
	const struct json *const *panel = context;
	const struct json *targets = json_get(*panel, "targets");
	bool is_empty = true;

	for (size_t k = 0; k < json_count(targets); k++) {
		char expression[QUERY_SIZE];

		set_variable(
			expression, sizeof(expression), json_get_text(json_at(targets, k), "expr"));
		ck_assert_msg(prometheus_query(prometheus, expression, page) == 200, "%s: %s",
			expression, page);
		if (shows_trouble_only(expression) || strstr(page, "\"result\":[{") != NULL)
			is_empty = false;
	}
	return !is_empty;
}

START_TEST(every_panel_of_the_dashboard_has_data)
{
	size_t asked = 0;

	/* The only mode with queues to wait in. */
	sandbox_set(sandbox, "LAPSE_DELAY", "levels");
	start_prometheus();
	prometheus_await_query(prometheus, "count(lapse_build_info)", "\"value\"");
	orders_insert_many(sandbox_query(sandbox),
		&(struct orders_plan){
			.prefix = "A", .count = 40, .due_in_ms = 5000, .spread_ms = 20000 });
	struct json *root = dashboard_read();
	const struct json *panels = json_get(root, "panels");
	for (size_t i = 0; i < json_count(panels); i++) {
		const struct json *panel = json_at(panels, i);

		if (text_equals(json_get_text(panel, "type"), "row"))
			continue;
		asked++;
		ck_assert_msg(wait_until(has_data, &panel, WAIT_LIMIT_MS), "panel \"%s\" is empty",
			json_get_text(panel, "title"));
	}
	json_destroy(&root);
	ck_assert_uint_gt(asked, 40);
}
END_TEST

START_TEST(ten_thousand_scrapes_leave_memory_flat)
{
	uint64_t before_kib = 0;

	sandbox_set(sandbox, "ASAN_OPTIONS", "quarantine_size_mb=1");
	daemon_start_ready(sandbox, "lapse-sweeper", &daemons[0]);
	for (int i = 0; i < SCRAPES; i++) {
		if (i == WARM_SCRAPES)
			before_kib = process_resident_kib(daemons[0].process);
		ck_assert_uint_eq(
			http_client_get(daemons[0].port, "/metrics", PAGE_LIMIT_MS, page), 200);
	}
	ck_assert_uint_gt(before_kib, 0);
	ck_assert_uint_le(process_resident_kib(daemons[0].process), before_kib + GROWTH_MAX_KIB);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		every_program_shows_what_the_document_says,
		prometheus_takes_every_page_and_evaluates_the_rules,
		every_panel_of_the_dashboard_has_data,
		ten_thousand_scrapes_leave_memory_flat,
	};
	const struct runner_fixture fixture = { set_up, tear_down };

	sandbox_need_servers();
	return runner_run_with("metrics_page", &fixture, tests, ARRAY_LENGTH(tests));
}
