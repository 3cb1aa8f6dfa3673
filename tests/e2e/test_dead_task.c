/* A task that cannot succeed ends with a person: alert, list, show, requeue, all from outside. */
#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/base/text.h"
#include "tests/support/fleet.h"
#include "tests/support/http_stub.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"
#include "tests/support/shop.h"
#include "tests/support/wait_until.h"

static struct shop *shop;
static struct http_stub *pager;

static void set_up(void)
{
	static const char *const words[] = { "--fail-sku", "SKU-1=410", NULL };
	char url[HTTP_STUB_URL_SIZE];

	shop_create(words, &shop);
	struct sandbox *sandbox = fleet_sandbox(shop_fleet(shop));
	http_stub_create(&pager);
	http_stub_accept_path(pager, "/alerts");
	http_stub_format_url(pager, url);
	sandbox_set(sandbox, "LAPSE_ALERT_TARGETS", "ops");
	sandbox_set(sandbox, "LAPSE_ALERT_OPS_TYPE", "generic");
	sandbox_set(sandbox, "LAPSE_ALERT_OPS_URL", "%s/alerts", url);
	sandbox_set(sandbox, "LAPSE_ALERT_GROUP_WAIT", "500ms");
}

static void tear_down(void)
{
	http_stub_destroy(&pager);
	shop_destroy(&shop);
}

static char *ask(const char *const *words, int expected)
{
	char *output = NULL;
	int status = sandbox_run(fleet_sandbox(shop_fleet(shop)), "lapsectl", words, &output);

	ck_assert_msg(status == expected, "lapsectl %s %s: status %d\n%s", words[0], words[1],
		status, output);
	return output;
}

static void expect_in(const char *text, const char *part)
{
	ck_assert_msg(strstr(text, part) != NULL, "no %s in\n%s", part, text);
}

static bool was_told(void *context)
{
	(void)context;
	return http_stub_count_bodies(pager) > 0;
}

/* The id of the only task in a list of JSON. */
static void read_id(const char *list, char id[32])
{
	const char *place = strstr(list, "\"id\":\"");

	ck_assert_msg(place != NULL, "no id in %s", list);
	place += strlen("\"id\":\"");
	size_t length = strcspn(place, "\"");
	ck_assert_uint_lt(length, 32);
	(void)text_format(id, 32, "%.*s", (int)length, place);
}

static void expect_alert(void)
{
	char *body = memory_allocate(HTTP_STUB_BODY_SIZE);

	WAIT_UNTIL(was_told, NULL);
	ck_assert(http_stub_get_body(pager, 0, body));
	expect_in(body, "\"version\":\"4\"");
	expect_in(body, "\"status\":\"firing\"");
	expect_in(body, "LapseTaskDead");
	free(body);
}

START_TEST(a_refused_restore_calls_a_person_who_repairs_it)
{
	static const char *const sale[] = { "--orders=1", "--pay", "0", "--timeout", "1s", "--skus",
		"1", "--items", "1", NULL };
	static const char *const list[] = { "retry", "list", "--status", "dead", "--json", NULL };
	char id[32];
	struct fleet *fleet = shop_fleet(shop);
	const char *const show[] = { "retry", "show", id, "--json", NULL };
	const char *const requeue[] = { "retry", "requeue", id, "--yes", "--no-input", NULL };

	fleet_start(fleet);
	shop_sell(shop, sale);
	expect_alert();
	ck_assert_int_eq(shop_status(shop, "stock_restore_dead"), 1);
	char *output = ask(list, 0);
	read_id(output, id);
	free(output);
	output = ask(show, 0);
	expect_in(output, "410");
	free(output);
	free(ask(requeue, 0));
	shop_await_rest(shop);
	/* It was refused again, so it is dead again; nothing was given back. */
	ck_assert_int_eq(shop_status(shop, "stock_restore_dead"), 1);
	output = shop_ask_stock(shop, "/v1/calls");
	expect_in(output, "\"code\":0");
	free(output);
	sandbox_expect_all_alive(fleet_sandbox(fleet));
}
END_TEST

int main(void)
{
	const TTest *const tests[] = { a_refused_restore_calls_a_person_who_repairs_it };
	const struct runner_fixture fixture = { set_up, tear_down };

	sandbox_need_servers();
	return runner_run_with("dead_task", &fixture, tests, ARRAY_LENGTH(tests));
}
