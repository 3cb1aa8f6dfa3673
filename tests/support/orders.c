#include "tests/support/orders.h"

#include <inttypes.h>

#include <check.h>

#include "common/base/text.h"
#include "tests/support/query.h"

static void insert_order(struct query *query, const struct order_plan *plan)
{
	if (plan->has_no_deadline)
		query_run(query,
			"INSERT INTO t_order(order_no,user_id,amount_cents,expire_time) "
			"VALUES ('%s',42,9900,NULL)",
			plan->order_no);
	else
		query_run(query,
			"INSERT INTO t_order(order_no,user_id,amount_cents,expire_time) VALUES "
			"('%s',42,9900,UTC_TIMESTAMP(3) + INTERVAL %" PRId64 " MICROSECOND)",
			plan->order_no, plan->due_in_ms * 1000);
}

void orders_insert(struct query *query, const struct order_plan *plan)
{
	query_run(query, "START TRANSACTION");
	insert_order(query, plan);
	for (size_t i = 0; i < plan->item_count; i++)
		query_run(query,
			"INSERT INTO t_order_item(order_id,sku_id,quantity) "
			"SELECT id,'%s',%" PRIu32 " FROM t_order WHERE order_no='%s'",
			plan->items[i].sku_id, plan->items[i].quantity, plan->order_no);
	if (!plan->has_no_event)
		query_run(query,
			"INSERT INTO t_outbox_event(event_type,order_no) "
			"VALUES ('ORDER_CREATED','%s')",
			plan->order_no);
	query_run(query, "COMMIT");
}

void orders_insert_one(struct query *query, const char *order_no, int64_t due_in_ms)
{
	static const struct order_item items[] = { { "SKU-1", 2 } };
	const struct order_plan plan = { .order_no = order_no,
		.due_in_ms = due_in_ms,
		.items = items,
		.item_count = ARRAY_LENGTH(items) };

	orders_insert(query, &plan);
}

/* Numbers 0, 1, 2, ... come from joining ten digits with themselves: works on every server. */
#define DIGITS                                                                            \
	"(SELECT 0 d UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL " \
	"SELECT 4 UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL "    \
	"SELECT 8 UNION ALL SELECT 9)"
#define NUMBERS_4 DIGITS " a JOIN " DIGITS " b JOIN " DIGITS " c JOIN " DIGITS " e"
#define NUMBER    "(a.d + 10 * b.d + 100 * c.d + 1000 * e.d)"

enum {
	CHUNK = 10000
};

static void insert_chunk(
	struct query *query, const struct orders_plan *plan, uint32_t first, uint32_t end)
{
	char belongs[128];

	(void)text_format(belongs, sizeof(belongs), "order_no LIKE '%s%%' AND user_id = %" PRIu32,
		plan->prefix, 1000 + first);
	query_run(query, "START TRANSACTION");
	query_run(query,
		"INSERT INTO t_order(order_no,user_id,amount_cents,expire_time) "
		"SELECT CONCAT('%s', n), %" PRIu32 ", 100 + n, UTC_TIMESTAMP(3) + INTERVAL "
		"(%" PRId64 " + n * %" PRIu32 " DIV %" PRIu32 ") * 1000 MICROSECOND "
		"FROM (SELECT %" PRIu32 " + " NUMBER " n FROM " NUMBERS_4 ") numbers "
		"WHERE n < %" PRIu32 " ORDER BY n",
		plan->prefix, 1000 + first, plan->due_in_ms, plan->spread_ms, plan->count, first,
		end);
	query_run(query,
		"INSERT INTO t_order_item(order_id,sku_id,quantity) "
		"SELECT id, CONCAT('SKU-', amount_cents %% 5), 1 FROM t_order WHERE %s",
		belongs);
	query_run(query,
		"INSERT INTO t_order_item(order_id,sku_id,quantity) "
		"SELECT id, CONCAT('SKU-', amount_cents %% 7), 2 FROM t_order WHERE %s",
		belongs);
	if (!plan->has_no_events)
		query_run(query,
			"INSERT INTO t_outbox_event(event_type,order_no) "
			"SELECT 'ORDER_CREATED', order_no FROM t_order WHERE %s",
			belongs);
	query_run(query, "COMMIT");
}

void orders_insert_many(struct query *query, const struct orders_plan *plan)
{
	for (uint32_t first = 0; first < plan->count; first += CHUNK) {
		uint32_t end = plan->count - first < CHUNK ? plan->count : first + CHUNK;

		insert_chunk(query, plan, first, end);
	}
}

bool orders_is(struct query *query, const char *order_no, const char *status)
{
	return query_number(query,
		       "SELECT COUNT(*) FROM t_order WHERE order_no = '%s' AND status = '%s'",
		       order_no, status) == 1;
}

int64_t orders_count(struct query *query, const char *status)
{
	return query_number(query, "SELECT COUNT(*) FROM t_order WHERE status = '%s'", status);
}

bool orders_pay(struct query *query, const char *order_no)
{
	query_run(query,
		"UPDATE t_order SET status = 'PAID', pay_time = UTC_TIMESTAMP(3), "
		"version = version + 1 "
		"WHERE order_no = '%s' AND status = 'UNPAID' "
		"AND (expire_time IS NULL OR expire_time > UTC_TIMESTAMP(3))",
		order_no);
	return orders_is(query, order_no, "PAID");
}

bool orders_are_all_final(void *query)
{
	return orders_count(query, "UNPAID") == 0;
}

bool orders_are_all_restored(void *query)
{
	return query_number(query, "SELECT COUNT(*) FROM t_compensation WHERE status <> 'DONE'") ==
	       0;
}
