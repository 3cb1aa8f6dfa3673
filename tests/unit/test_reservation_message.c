/* reservation_message: keys of order and line, and answers that leave nothing open. */
#include <stdlib.h>
#include <string.h>

#include <check.h>

#include "common/base/compiler.h"
#include "demo/shop/reservation_message.h"
#include "tests/support/runner.h"

static const struct plan_order order = {
	.order_no = "A1",
	.items = { { "SKU-1", 2 }, { "SKU-2", 3 } },
	.item_count = 2,
};

static struct reservation_lines lines;

static void set_up(void)
{
	memset(&lines, 0, sizeof(lines));
}

static bool read_as(enum reservation_kind kind, const char *body)
{
	return reservation_message_read(kind, &order, body, strlen(body), &lines);
}

START_TEST(a_reserve_names_every_line)
{
	char *body = reservation_message_write(RESERVATION_KIND_RESERVE, &order, &lines);

	ck_assert_str_eq(body,
		"{\"reserves\":[{\"idempotency_key\":\"reserve:A1:1\",\"order_no\":\"A1\","
		"\"sku_id\":\"SKU-1\",\"quantity\":2},{\"idempotency_key\":\"reserve:A1:2\","
		"\"order_no\":\"A1\",\"sku_id\":\"SKU-2\",\"quantity\":3}]}");
	free(body);
}
END_TEST

START_TEST(a_release_names_the_lines_that_are_taken)
{
	lines.is_taken[1] = true;
	char *body = reservation_message_write(RESERVATION_KIND_RELEASE, &order, &lines);

	ck_assert_str_eq(body, "{\"restores\":[{\"idempotency_key\":\"release:A1:2\","
			       "\"order_no\":\"A1\",\"sku_id\":\"SKU-2\",\"quantity\":3}]}");
	free(body);
}
END_TEST

START_TEST(a_refused_line_is_an_answer)
{
	ck_assert(read_as(RESERVATION_KIND_RESERVE,
		"{\"code\":0,\"results\":[{\"idempotency_key\":\"reserve:A1:2\",\"code\":1},"
		"{\"idempotency_key\":\"reserve:A1:1\",\"code\":0}]}"));
	ck_assert(lines.is_taken[0]);
	ck_assert(!lines.is_taken[1]);
}
END_TEST

START_TEST(a_release_that_is_refused_is_asked_again)
{
	lines.is_taken[0] = true;
	ck_assert(!read_as(RESERVATION_KIND_RELEASE,
		"{\"code\":0,\"results\":[{\"idempotency_key\":\"release:A1:1\",\"code\":1}]}"));
	ck_assert(read_as(RESERVATION_KIND_RELEASE,
		"{\"code\":0,\"results\":[{\"idempotency_key\":\"release:A1:1\",\"code\":0}]}"));
}
END_TEST

#define ANSWER(code, second_code)                            \
	"{\"code\":" code ",\"results\":["                   \
	"{\"idempotency_key\":\"reserve:A1:1\",\"code\":0}," \
	"{\"idempotency_key\":\"reserve:A1:2\",\"code\":" second_code "}]}"

START_TEST(an_answer_that_leaves_a_line_open_is_none)
{
	static const char *const bodies[] = {
		"",
		"null",
		"[]",
		"{}",
		"{\"code\":9}",
		"{\"code\":0}",
		"{\"code\":0,\"results\":{}}",
		"{\"code\":0,\"results\":[1,null,[]]}",
		"{\"code\":0,\"results\":[{\"idempotency_key\":\"reserve:A1:1\",\"code\":0}]}",
		ANSWER("0", "9"),
		ANSWER("1", "0"),
	};

	for (size_t i = 0; i < ARRAY_LENGTH(bodies); i++)
		ck_assert_msg(!read_as(RESERVATION_KIND_RESERVE, bodies[i]), "%s", bodies[i]);
}
END_TEST

int main(void)
{
	const struct runner_fixture fixture = { set_up, NULL };
	const TTest *const tests[] = {
		a_reserve_names_every_line,
		a_release_names_the_lines_that_are_taken,
		a_refused_line_is_an_answer,
		a_release_that_is_refused_is_asked_again,
		an_answer_that_leaves_a_line_open_is_none,
	};

	return runner_run_with("reservation_message", &fixture, tests, ARRAY_LENGTH(tests));
}
