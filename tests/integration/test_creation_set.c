/* New orders that are created together: all of them or none. */
#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/io/db.h"
#include "common/io/db_group.h"
#include "common/order/creation_set.h"
#include "tests/support/direct_db.h"
#include "tests/support/query.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"

#define TRACE "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
#define ITEMS                                                                              \
	"SELECT GROUP_CONCAT(CONCAT(order_no, ':', sku_id, '*', quantity) ORDER BY i.id) " \
	"FROM t_order o JOIN t_order_item i ON i.order_id = o.id"

static struct sandbox *sandbox;
static struct query *query;
static struct direct_db direct;
static struct creation *creations[CREATION_SET_MAX];
static size_t count;

static void set_up(void)
{
	sandbox_create(SANDBOX_NO_BROKER, &sandbox);
	query = sandbox_query(sandbox);
	direct_db_open(&direct, sandbox, NULL, NULL);
	count = 0;
}

static void tear_down(void)
{
	for (size_t i = 0; i < count; i++)
		free(creations[i]);
	direct_db_close(&direct);
	sandbox_destroy(&sandbox);
}

static struct creation *add(const char *order_no, size_t items)
{
	struct creation *creation = memory_allocate(sizeof(*creation));

	(void)text_copy(creation->order_no, sizeof(creation->order_no), order_no);
	(void)text_copy(creation->currency, sizeof(creation->currency), "CNY");
	creation->user_id = 7 + count;
	creation->amount_cents = 9900;
	for (size_t i = 0; i < items; i++) {
		struct creation_item *item = &creation->items[creation->item_count++];

		(void)text_format(item->sku_id, sizeof(item->sku_id), "SKU-%zu", i);
		item->quantity = (uint32_t)count + 1;
	}
	creations[count++] = creation;
	return creation;
}

static enum result run(void)
{
	struct error error = { .text = "" };

	return creation_set_run(
		direct.db, (const struct creation *const *)creations, count, &error);
}

START_TEST(each_order_has_its_own_rows)
{
	struct creation *late = add("B2", 2);

	late->has_timeout = true;
	late->timeout_ms = 1800000;
	(void)text_copy(late->trace_parent, sizeof(late->trace_parent), TRACE);
	add("A1", 1);
	add("C3", 0);
	ck_assert_int_eq(run(), RESULT_OK);
	query_expect(query, "B2:SKU-0*1,B2:SKU-1*1,A1:SKU-0*2", ITEMS);
	query_expect(query, "A1 8 NULL NULL,B2 7 " TRACE " 1800000,C3 9 NULL NULL",
		"SELECT GROUP_CONCAT(CONCAT_WS(' ', order_no, user_id, IFNULL(trace_parent, "
		"'NULL'), IFNULL(TIMESTAMPDIFF(MICROSECOND, created_at, expire_time) DIV 1000, "
		"'NULL')) ORDER BY order_no) FROM t_order WHERE status = 'UNPAID'");
	query_expect(query, "3 1",
		"SELECT COUNT(*), SUM(trace_parent <=> '" TRACE "' AND order_no = 'B2') "
		"FROM t_outbox_event WHERE event_type = 'ORDER_CREATED'");
}
END_TEST

START_TEST(a_number_that_is_taken_leaves_none)
{
	query_run(
		query, "INSERT INTO t_order (order_no, user_id, amount_cents) VALUES ('B2', 1, 1)");
	add("A1", 1);
	add("B2", 1);
	ck_assert_int_ne(run(), RESULT_OK);
	query_expect(query, "1 0 0",
		"SELECT COUNT(*), (SELECT COUNT(*) FROM t_order_item), "
		"(SELECT COUNT(*) FROM t_outbox_event) FROM t_order");
}
END_TEST

START_TEST(one_number_twice_leaves_none)
{
	add("A1", 1);
	add("A1", 1);
	ck_assert_int_ne(run(), RESULT_OK);
	query_expect(query, "0", "SELECT COUNT(*) FROM t_order");
}
END_TEST

START_TEST(in_a_group_it_is_a_member_like_others)
{
	struct error error = { .text = "" };

	ck_assert_int_eq(db_group_begin(direct.db, &error), RESULT_OK);
	add("A1", 1);
	add("B2", 1);
	ck_assert_int_eq(run(), RESULT_OK);
	add("C3", 1);
	ck_assert_int_ne(run(), RESULT_OK); /* A1 and B2 are there */
	ck_assert(!db_group_is_lost(direct.db));
	query_expect(query, "0", "SELECT COUNT(*) FROM t_order");
	ck_assert_int_eq(db_group_end(direct.db, &error), RESULT_OK);
	query_expect(query, "A1:SKU-0*1,B2:SKU-0*2", ITEMS);
}
END_TEST

START_TEST(as_many_as_fit_are_created)
{
	char order_no[32];

	for (size_t i = 0; i < CREATION_SET_MAX; i++) {
		(void)text_format(order_no, sizeof(order_no), "M%zu", i);
		add(order_no, i == 0 ? CREATION_ITEM_MAX : 3);
	}
	ck_assert_int_eq(run(), RESULT_OK);
	query_expect(query, "64 389 64",
		"SELECT COUNT(*), (SELECT COUNT(*) FROM t_order JOIN t_order_item i ON "
		"i.order_id = t_order.id AND i.quantity = user_id - 6), "
		"(SELECT COUNT(*) FROM t_outbox_event) FROM t_order");
}
END_TEST

int main(void)
{
	const struct runner_fixture fixture = { set_up, tear_down };
	const TTest *const tests[] = {
		each_order_has_its_own_rows,
		a_number_that_is_taken_leaves_none,
		one_number_twice_leaves_none,
		in_a_group_it_is_a_member_like_others,
		as_many_as_fit_are_created,
	};

	sandbox_need_servers();
	return runner_run_with("creation_set", &fixture, tests, ARRAY_LENGTH(tests));
}
