/* The console in a real browser: reading, filtering, keyboard, narrow, dark, in both languages. */
#include <string.h>

#include "common/base/text.h"
#include "tests/support/browser.h"
#include "tests/support/console.h"
#include "tests/support/query.h"
#include "tests/support/rabbit.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"
#include "tests/support/wait_until.h"

enum {
	URL_SIZE = 256
};

static struct sandbox *sandbox;
static struct query *query;
static struct console_run console;
static struct browser *browser;

/* A message that could not be read, parked with a hostile text. */
static void park(void)
{
	static const char body[] = CONSOLE_HOSTILE;
	const struct rabbit_header headers[] = { { "x-lapse-reason", "malformed", 0 },
		{ "x-lapse-origin", "lapse.timeout.due", 0 } };
	const struct rabbit_message message = {
		.routing_key = "lapse.parked",
		.body = body,
		.body_size = strlen(body),
		.message_id = "m-1",
		.type = "order.timeout.v1",
		.content_type = "application/json",
		.headers = headers,
		.header_count = ARRAY_LENGTH(headers),
	};

	rabbit_declare_queue(sandbox_rabbit(sandbox), "lapse.parked");
	rabbit_declare_queue(sandbox_rabbit(sandbox), "lapse.timeout.due");
	rabbit_publish(sandbox_rabbit(sandbox), &message);
}

/* Closes of the last hour, so that the charts have something to show. */
static void fill_closes(void)
{
	for (int i = 0; i < 55; i++)
		query_run(query,
			"INSERT INTO t_order (order_no, user_id, amount_cents, "
			"expire_time, status, "
			"close_time, close_reason, close_source) SELECT CONCAT('S%d-', "
			"id), 7, 100, "
			"UTC_TIMESTAMP(3) - INTERVAL %d MINUTE, 'CLOSED', UTC_TIMESTAMP(3) - "
			"INTERVAL %d MINUTE + INTERVAL (%d + id * 3) * 1000 MICROSECOND, "
			"'TIMEOUT', "
			"'message' FROM t_order WHERE order_no IN ('OPEN-1', 'OPEN-2', 'PAID-1') "
			"LIMIT %d",
			i, i + 2, i + 2, i * 7 % 40 + 5, i * 5 % 3 + 1);
}

/* Nothing is missing, and the errors of most tasks read as they do in life. */
static void make_plausible(void)
{
	query_run(query,
		"UPDATE t_order SET rule_id = 1 WHERE order_no LIKE 'S%%' OR order_no = 'CLOSED-1';"
		"UPDATE t_compensation SET last_error = 'HTTP 503: stock service is restarting' "
		"WHERE order_no LIKE 'DEAD-%%';"
		"DELETE FROM t_order_item WHERE order_id IN (SELECT id FROM t_order "
		"WHERE order_no = "
		"'CLOSED-1');"
		"INSERT INTO t_order_item (id, order_id, sku_id, quantity) SELECT 1000 + id, id, "
		"'SKU-1', 2 FROM t_order WHERE order_no LIKE 'DEAD-%%' OR order_no = 'CLOSED-1';"
		"UPDATE t_compensation c JOIN t_order o ON o.order_no = c.order_no SET "
		"c.idempotency_key = CONCAT('restore:', c.order_no, ':', 1000 + o.id);"
		"INSERT INTO t_outbox_event (event_type, order_no, status, sent_at) SELECT "
		"'ORDER_CLOSED', order_no, 'SENT', UTC_TIMESTAMP(3) FROM t_order WHERE status = "
		"'CLOSED'");
}

static void set_up(void)
{
	sandbox_create(SANDBOX_EVERYTHING, &sandbox);
	query = sandbox_query(sandbox);
	sandbox_set(sandbox, "LAPSE_ENV_LABEL", "prod");
	console_fill(query);
	console_fill_dead(query, "DEAD-", 12);
	fill_closes();
	make_plausible();
	park();
	uint16_t port = sandbox_free_port();
	sandbox_set(sandbox, "LAPSE_OPS_ADDR", "127.0.0.1:%u", port);
	sandbox_set(sandbox, "LAPSE_CONSOLE_FLEET", "localhost:%u,nowhere.invalid:9464", port);
	console_start(&console, sandbox);
	browser_create(sandbox, BROWSER_WITH_SCRIPT, &browser);
}

static void tear_down(void)
{
	browser_destroy(&browser);
	console_leave(&console);
	sandbox_destroy(&sandbox);
}

/* As a person; the browser remembers the log-in. */
static void open_as(const char *person, const char *path)
{
	char url[URL_SIZE];

	(void)text_format(
		url, sizeof(url), "http://%s:secret@127.0.0.1:%u%s", person, console.port, path);
	browser_open(browser, url);
}

static void open_page(const char *path)
{
	char url[URL_SIZE];

	(void)text_format(url, sizeof(url), "http://127.0.0.1:%u%s", console.port, path);
	browser_open(browser, url);
}

/* Some figures come a moment after the start. */
struct opening {
	const char *path;
	const char *words;
};

static bool is_opened(void *context)
{
	const struct opening *opening = context;
	char text[BROWSER_TEXT_SIZE];

	open_page(opening->path);
	browser_text(browser, "body", text);
	return strstr(text, opening->words) != NULL;
}

static void open_until(const char *path, const char *words)
{
	struct opening opening = { path, words };

	ck_assert_msg(
		wait_until(is_opened, &opening, WAIT_LIMIT_MS), "%s never showed %s", path, words);
	browser_expect(browser, words);
}

static const struct {
	const char *path;
	const char *words;
	const char *image;
} pages[] = {
	{ "/", "Broken promises", NULL },
	{ "/tasks", "DEAD-12", "tasks" },
	{ "/tasks/1", "CLOSED-1", "task" },
	{ "/tasks/1/resolve", "The order is in a final state", "resolve" },
	{ "/orders?limit=10", "TIMEOUT", "orders" },
	{ "/orders/CLOSED-1", "timeline", "order" },
	{ "/orders/OPEN-1/close", "This cannot be taken back", "close" },
	{ "/outbox?state=SENT", "ORDER_CLOSED", "outbox" },
	{ "/payments", "LATE", "payments" },
	{ "/parked", "malformed", "parked" },
	{ "/queues", "lapse.timeout.due", "queues" },
	{ "/rules", "app", "rules" },
	{ "/alerts", "TASK_DEAD", "alerts" },
	{ "/fleet", "lapse-console", "fleet" },
	{ "/audit", "Nothing has been done by hand", NULL },
	{ "/about", "Apache-2.0", "about" },
	{ "/tasks/bulk", "Exactly these rows", "bulk" },
};

/* Words that came from rows stand in the page as they are; nothing of them was carried out. */
static void expect_harmless(void)
{
	ck_assert_int_eq(browser_count(browser, "img"), 0);
	ck_assert_int_eq(browser_count(browser, "script"), 1);
	ck_assert_int_eq(browser_count(browser, "[style], style"), 0);
}

START_TEST(every_page_opens_and_hostile_text_stays_text)
{
	open_as("anna", "/");
	/* The charts stand at the bottom. */
	browser_resize(browser, 1280, 1240);
	open_until("/", "Closes per minute of the last hour");
	ck_assert_int_gt(browser_count(browser, "svg rect"), 20);
	browser_shoot(browser, "overview");
	browser_resize(browser, 1280, 800);
	for (size_t i = 0; i < ARRAY_LENGTH(pages); i++) {
		open_until(pages[i].path, pages[i].words);
		expect_harmless();
		if (pages[i].image != NULL)
			browser_shoot(browser, pages[i].image);
	}
	open_page("/tasks/1");
	browser_expect(browser, "<script>alert(1)</script>\"'&<img src=x");
	open_page("/rules");
	browser_expect(browser, "<script>alert(1)</script>");
	open_page("/parked");
	browser_click(browser, "tbody a");
	browser_expect(browser, "<script>alert(1)</script>");
	expect_harmless();
}
END_TEST

START_TEST(a_filter_travels_in_the_address)
{
	char url[BROWSER_TEXT_SIZE];

	open_as("vera", "/tasks");
	ck_assert_int_eq(browser_count(browser, "tbody tr"), 13);
	browser_type(browser, "input[name=order]", "DEAD-7");
	browser_click(browser, "form.filters button");
	browser_expect(browser, "Shown: ");
	browser_expect(browser, "order DEAD-7");
	ck_assert_int_eq(browser_count(browser, "tbody tr"), 1);
	browser_evaluate(browser, "location.search", url);
	ck_assert_ptr_nonnull(strstr(url, "order=DEAD-7"));
	browser_reload(browser);
	ck_assert_int_eq(browser_count(browser, "tbody tr"), 1);
	browser_type(browser, "input[name=error]", "nothing like this");
	browser_click(browser, "form.filters button");
	browser_expect(browser, "Nothing matches");
}
END_TEST

START_TEST(the_keyboard_is_enough)
{
	char name[BROWSER_TEXT_SIZE];

	open_as("olga", "/orders");
	browser_press(browser, "/");
	browser_evaluate(browser, "document.activeElement.name", name);
	ck_assert_str_eq(name, "order");
	/* In a field a slash is a slash. */
	browser_press(browser, "/");
	browser_evaluate(browser, "document.activeElement.value", name);
	ck_assert_str_eq(name, "/");
	open_page("/");
	browser_press(browser, "\\uE004");
	browser_evaluate(browser, "document.activeElement.className", name);
	ck_assert_str_eq(name, "skip");
}
END_TEST

/* The page itself never scrolls sideways; wide tables do, in their own box. */
static void expect_narrow(const char *path)
{
	char answer[BROWSER_TEXT_SIZE];

	open_page(path);
	browser_evaluate(
		browser, "document.documentElement.scrollWidth <= window.innerWidth", answer);
	ck_assert_msg(strcmp(answer, "true") == 0, "%s is wider than the window", path);
}

START_TEST(a_narrow_screen_shows_everything)
{
	open_as("olga", "/");
	browser_resize(browser, 390, 844);
	for (size_t i = 0; i < ARRAY_LENGTH(pages); i++)
		expect_narrow(pages[i].path);
	open_page("/");
	browser_shoot(browser, "overview-narrow");
	open_page("/tasks");
	browser_shoot(browser, "tasks-narrow");
}
END_TEST

START_TEST(a_dark_screen_is_dark)
{
	static const char background[] = "getComputedStyle(document.body).backgroundColor";
	char light[BROWSER_TEXT_SIZE];
	char dark[BROWSER_TEXT_SIZE];

	open_as("olga", "/");
	browser_set_dark(browser, false);
	browser_evaluate(browser, background, light);
	browser_set_dark(browser, true);
	browser_evaluate(browser, background, dark);
	ck_assert_str_eq(light, "rgb(247, 248, 250)");
	ck_assert_str_eq(dark, "rgb(18, 22, 28)");
	browser_shoot(browser, "overview-dark");
	open_page("/orders/CLOSED-1");
	browser_shoot(browser, "order-dark");
}
END_TEST

START_TEST(the_other_language_is_there)
{
	console_leave(&console);
	sandbox_kill(sandbox, console.process);
	sandbox_set(sandbox, "LAPSE_CONSOLE_LANG", "zh-CN");
	console_start(&console, sandbox);
	open_as("olga", "/");
	browser_expect(browser, "逾期订单");
	browser_shoot(browser, "overview-zh");
	open_page("/tasks");
	browser_expect(browser, "重试次数");
}
END_TEST

int main(void)
{
	const struct runner_fixture fixture = { set_up, tear_down };
	const TTest *const tests[] = {
		every_page_opens_and_hostile_text_stays_text,
		a_filter_travels_in_the_address,
		the_keyboard_is_enough,
		a_narrow_screen_shows_everything,
		a_dark_screen_is_dark,
		the_other_language_is_there,
	};

	sandbox_need_servers();
	browser_need();
	return runner_run_with("console_pages", &fixture, tests, ARRAY_LENGTH(tests));
}
