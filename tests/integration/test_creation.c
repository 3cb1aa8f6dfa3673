/* New orders on a real server: what is written, and what is the same order. */
#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/io/db.h"
#include "common/order/creation.h"
#include "tests/support/direct_db.h"
#include "tests/support/proxy.h"
#include "tests/support/query.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"

#define DAY_MS       UINT64_C(86400000)
#define TRACE        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
#define DAYS_3650    (3650 * DAY_MS)
#define HALF_HOUR_MS UINT64_C(1800000)

static const char *options;
static struct sandbox *sandbox;
static struct query *query;
static struct direct_db direct;
static struct creation *order;

static void describe(struct creation *creation, const char *order_no)
{
	memset(creation, 0, sizeof(*creation));
	(void)text_copy(creation->order_no, sizeof(creation->order_no), order_no);
	(void)text_copy(creation->currency, sizeof(creation->currency), "CNY");
	creation->user_id = UINT64_MAX;
	creation->amount_cents = 9900;
	creation->has_timeout = true;
	creation->timeout_ms = HALF_HOUR_MS;
}

static void add_item(struct creation *creation, const char *sku_id, uint32_t quantity)
{
	struct creation_item *item = &creation->items[creation->item_count++];

	(void)text_copy(item->sku_id, sizeof(item->sku_id), sku_id);
	item->quantity = quantity;
}

static void set_up(void)
{
	sandbox_create(SANDBOX_NO_BROKER, &sandbox);
	query = sandbox_query(sandbox);
	direct_db_open(&direct, sandbox, NULL, options);
	order = memory_allocate(sizeof(*order));
	describe(order, "A1");
}

static void tear_down(void)
{
	free(order);
	direct_db_close(&direct);
	sandbox_destroy(&sandbox);
}

static enum creation_outcome create(void)
{
	enum creation_outcome outcome = CREATION_OUTCOME_DIFFERENT;
	struct error error = { .text = "" };
	enum result result = creation_run(direct.db, order, &outcome, &error);

	ck_assert_msg(result == RESULT_OK, "creation_run: %s", error.text);
	return outcome;
}

static int64_t count_rows(const char *table)
{
	return query_number(query, "SELECT COUNT(*) FROM %s", table);
}

START_TEST(an_order_has_its_items_and_its_event)
{
	char text[QUERY_TEXT_SIZE];

	(void)text_copy(order->trace_parent, sizeof(order->trace_parent), TRACE);
	add_item(order, "SKU-2", 0);
	add_item(order, "SKU-1", 3);
	add_item(order, "SKU-1", 1000000);
	ck_assert_int_eq(create(), CREATION_OUTCOME_CREATED);
	query_text(query, text,
		"SELECT order_no, user_id, amount_cents, currency, status, version, trace_parent, "
		"TIMESTAMPDIFF(MICROSECOND, created_at, expire_time) DIV 1000 FROM t_order");
	ck_assert_str_eq(text, "A1 18446744073709551615 9900 CNY UNPAID 0 " TRACE " 1800000");
	query_text(query, text,
		"SELECT GROUP_CONCAT(sku_id, '*', quantity ORDER BY id) FROM t_order_item "
		"WHERE order_id = (SELECT id FROM t_order)");
	ck_assert_str_eq(text, "SKU-2*0,SKU-1*3,SKU-1*1000000");
	query_text(query, text,
		"SELECT event_type, order_no, trace_parent, status, payload FROM t_outbox_event");
	ck_assert_str_eq(text, "ORDER_CREATED A1 " TRACE " NEW NULL");
}
END_TEST

/* Every number of items is split in another way. */
START_TEST(every_number_of_items_is_written_whole)
{
	static const uint32_t counts[] = { 0, 1, 2, 3, 7, 8, 9, 31, 32, 33, 47, 199,
		CREATION_ITEM_MAX };

	for (size_t i = 0; i < ARRAY_LENGTH(counts); i++) {
		char order_no[TEXT_KEY_SIZE];

		(void)text_format(order_no, sizeof(order_no), "N%u", counts[i]);
		describe(order, order_no);
		for (uint32_t item = 0; item < counts[i]; item++) {
			char sku_id[TEXT_KEY_SIZE];

			(void)text_format(sku_id, sizeof(sku_id), "SKU-%u", item);
			add_item(order, sku_id, item);
		}
		ck_assert_int_eq(create(), CREATION_OUTCOME_CREATED);
		ck_assert_int_eq(create(), CREATION_OUTCOME_SAME);
		ck_assert_int_eq(
			query_number(query,
				"SELECT COUNT(DISTINCT sku_id) FROM t_order_item i JOIN t_order o "
				"ON o.id = i.order_id WHERE order_no = '%s' AND "
				"sku_id = CONCAT('SKU-', quantity)",
				order_no),
			counts[i]);
	}
	ck_assert_int_eq(count_rows("t_order"), ARRAY_LENGTH(counts));
}
END_TEST

START_TEST(a_deadline_is_as_far_as_the_timeout_says_or_never)
{
	static const struct {
		const char *order_no;
		bool has_timeout;
		uint64_t timeout_ms;
	} cases[] = {
		{ "NOW", true, 1 },
		{ "FAR", true, DAYS_3650 },
		{ "NEVER", false, 0 },
		{ "NEVER-2", false, 60000 },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
		describe(order, cases[i].order_no);
		order->has_timeout = cases[i].has_timeout;
		order->timeout_ms = cases[i].timeout_ms;
		ck_assert_int_eq(create(), CREATION_OUTCOME_CREATED);
	}
	char text[QUERY_TEXT_SIZE];
	query_text(query, text,
		"SELECT GROUP_CONCAT(order_no, ' ', IFNULL(TIMESTAMPDIFF(MICROSECOND, created_at, "
		"expire_time) DIV 1000, 'never') ORDER BY id) FROM t_order");
	ck_assert_str_eq(text, "NOW 1,FAR 315360000000,NEVER never,NEVER-2 never");
}
END_TEST

START_TEST(the_same_order_again_is_the_same_and_writes_nothing)
{
	add_item(order, "SKU-1", 1);
	add_item(order, "SKU-2", 2);
	add_item(order, "SKU-1", 3);
	ck_assert_int_eq(create(), CREATION_OUTCOME_CREATED);
	/* Other order of the items, other timeout, other trace: nothing of the content. */
	describe(order, "A1");
	order->timeout_ms = 1;
	add_item(order, "SKU-1", 3);
	add_item(order, "SKU-1", 1);
	add_item(order, "SKU-2", 2);
	ck_assert_int_eq(create(), CREATION_OUTCOME_SAME);
	ck_assert_int_eq(count_rows("t_order"), 1);
	ck_assert_int_eq(count_rows("t_order_item"), 3);
	ck_assert_int_eq(count_rows("t_outbox_event"), 1);
	ck_assert_int_eq(
		query_number(query, "SELECT TIMESTAMPDIFF(SECOND, created_at, expire_time) "
				    "FROM t_order"),
		1800);
}
END_TEST

START_TEST(the_same_order_is_the_same_when_it_is_over)
{
	ck_assert_int_eq(create(), CREATION_OUTCOME_CREATED);
	query_run(query, "UPDATE t_order SET status = 'CLOSED', close_time = UTC_TIMESTAMP(3)");
	ck_assert_int_eq(create(), CREATION_OUTCOME_SAME);
}
END_TEST

static void change_user(struct creation *creation)
{
	creation->user_id = 1;
}

static void change_amount(struct creation *creation)
{
	creation->amount_cents++;
}

static void change_currency(struct creation *creation)
{
	(void)text_copy(creation->currency, sizeof(creation->currency), "USD");
}

static void change_quantity(struct creation *creation)
{
	creation->items[1].quantity++;
}

static void change_sku(struct creation *creation)
{
	(void)text_copy(creation->items[0].sku_id, TEXT_KEY_SIZE, "sku-1");
}

static void swap_quantities(struct creation *creation)
{
	creation->items[0].quantity = 2;
	creation->items[1].quantity = 1;
}

static void drop_item(struct creation *creation)
{
	creation->item_count--;
}

static void double_item(struct creation *creation)
{
	add_item(creation, "SKU-2", 2);
}

START_TEST(another_order_with_the_same_number_is_refused)
{
	static void (*const changes[])(struct creation * creation) = { change_user, change_amount,
		change_currency, change_quantity, change_sku, swap_quantities, drop_item,
		double_item };

	add_item(order, "SKU-1", 1);
	add_item(order, "SKU-2", 2);
	ck_assert_int_eq(create(), CREATION_OUTCOME_CREATED);
	for (size_t i = 0; i < ARRAY_LENGTH(changes); i++) {
		describe(order, "A1");
		add_item(order, "SKU-1", 1);
		add_item(order, "SKU-2", 2);
		changes[i](order);
		ck_assert_msg(create() == CREATION_OUTCOME_DIFFERENT, "change %zu", i);
	}
	ck_assert_int_eq(count_rows("t_order"), 1);
	ck_assert_int_eq(count_rows("t_order_item"), 2);
}
END_TEST

/* An order service of its own may have written more than we would. */
START_TEST(an_order_with_more_items_than_we_take_is_another_one)
{
	for (int i = 0; i < CREATION_ITEM_MAX; i++)
		add_item(order, "SKU-1", 1);
	ck_assert_int_eq(create(), CREATION_OUTCOME_CREATED);
	query_run(query, "INSERT INTO t_order_item(order_id, sku_id, quantity) "
			 "SELECT id, 'SKU-1', 1 FROM t_order");
	ck_assert_int_eq(create(), CREATION_OUTCOME_DIFFERENT);
}
END_TEST

/* Something the schema refuses must leave nothing behind. */
START_TEST(a_refused_item_takes_the_order_back)
{
	enum creation_outcome outcome = CREATION_OUTCOME_DIFFERENT;
	struct error error = { .text = "" };

	for (int i = 0; i < 40; i++)
		add_item(order, i == 39 ? "../admin/reset?x=1#" : "SKU-1", 1);
	ck_assert_int_eq(creation_run(direct.db, order, &outcome, &error), RESULT_PERMANENT);
	ck_assert_int_eq(count_rows("t_order"), 0);
	ck_assert_int_eq(count_rows("t_order_item"), 0);
	ck_assert_int_eq(count_rows("t_outbox_event"), 0);
}
END_TEST

static void create_over_a_cut_line(enum proxy_place place, enum creation_outcome outcome)
{
	struct proxy *proxy = sandbox_proxy_mysql(sandbox);
	enum creation_outcome got = CREATION_OUTCOME_DIFFERENT;
	struct error error = { .text = "" };

	direct_db_close(&direct);
	direct_db_open(&direct, sandbox, proxy, options);
	add_item(order, "SKU-1", 1);
	proxy_cut_at(proxy, PROXY_COMMIT, place, 1);
	ck_assert_int_eq(creation_run(direct.db, order, &got, &error), RESULT_TEMPORARY);
	direct_db_reconnect(&direct);
	ck_assert_int_eq(create(), outcome);
	ck_assert_int_eq(count_rows("t_order"), 1);
	ck_assert_int_eq(count_rows("t_order_item"), 1);
	ck_assert_int_eq(count_rows("t_outbox_event"), 1);
}

START_TEST(a_cut_before_the_commit_leaves_nothing)
{
	create_over_a_cut_line(PROXY_BEFORE, CREATION_OUTCOME_CREATED);
}
END_TEST

START_TEST(a_cut_behind_the_commit_doubles_nothing)
{
	create_over_a_cut_line(PROXY_AFTER, CREATION_OUTCOME_SAME);
}
END_TEST

int main(void)
{
	static const char *const ways[] = { NULL, "found_rows=on" };
	const struct runner_fixture fixture = { set_up, tear_down };
	const TTest *const tests[] = {
		an_order_has_its_items_and_its_event,
		every_number_of_items_is_written_whole,
		a_deadline_is_as_far_as_the_timeout_says_or_never,
		the_same_order_again_is_the_same_and_writes_nothing,
		the_same_order_is_the_same_when_it_is_over,
		another_order_with_the_same_number_is_refused,
		an_order_with_more_items_than_we_take_is_another_one,
		a_refused_item_takes_the_order_back,
		a_cut_before_the_commit_leaves_nothing,
		a_cut_behind_the_commit_doubles_nothing,
	};
	int status = 0;

	sandbox_need_servers();
	for (size_t i = 0; i < ARRAY_LENGTH(ways) && status == 0; i++) {
		options = ways[i];
		status = runner_run_with("creation", &fixture, tests, ARRAY_LENGTH(tests));
	}
	return status;
}
