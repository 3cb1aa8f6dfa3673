#include "common/order/invariant_query.h"

#include "common/base/compiler.h"

#define WALKS(...) \
	((const enum invariant_walk[]){ __VA_ARGS__, (enum invariant_walk)INVARIANT_WALK_COUNT })

#define ORDER_WALKS WALKS(INVARIANT_WALK_ORDERS, INVARIANT_WALK_OLD_CLOSES)
#define TASK_WALKS  WALKS(INVARIANT_WALK_TASKS, INVARIANT_WALK_OPEN_TASKS)

/* INVARIANT_QUERY_ROW_MAX: more rows per statement are not counted one by one. */
#define MOST " LIMIT 1000"

const struct invariant_info invariant_infos[INVARIANT_COUNT] = {
	[INVARIANT_CLOSED_EARLY] = { "closed_early", "P1",
		"no order was closed by timeout before its deadline" },
	[INVARIANT_PAID_LATE] = { "paid_late", "P1",
		"no order became PAID at or after its deadline" },
	[INVARIANT_OVERDUE] = { "overdue", "P2",
		"no unpaid order is past its deadline for longer than the grace" },
	[INVARIANT_CLOSE_EVENT] = { "close_event", "P3",
		"each closed order has one ORDER_CLOSED event, and no other order has one" },
	[INVARIANT_RESTORE_TASK] = { "restore_task", "P3",
		"each item of a closed order has one restore task, and nothing else has one" },
	[INVARIANT_TOO_MANY_CALLS] = { "too_many_calls", "P5",
		"no task was called more often than its retries allow" },
	[INVARIANT_DEAD_WITHOUT_ALERT] = { "dead_without_alert", "P5",
		"each DEAD task has its firing alert" },
	[INVARIANT_REFUND_TASK] = { "refund_task", "P6",
		"each payment that must go back has one refund task, and no other has one" },
	[INVARIANT_LEASE_STUCK] = { "lease_stuck", "P8", "no row is leased longer than its lease" },
	[INVARIANT_OUTBOX_STALE] = { "outbox_stale", "P2",
		"no outbox row waits longer than the grace" },
};

const struct invariant_query invariant_queries[] = {
	{ INVARIANT_CLOSED_EARLY, INVARIANT_TIME_NONE, ORDER_WALKS,
		"SELECT o.order_no, "
		"IF(o.expire_time IS NULL, 'closed by timeout without a deadline', "
		"CONCAT('closed ', "
		"TIMESTAMPDIFF(MICROSECOND, o.close_time, o.expire_time) DIV 1000, "
		"' ms before its deadline')) FROM t_order o WHERE ",
		" AND o.status = 'CLOSED' AND o.close_reason = 'TIMEOUT' "
		"AND (o.expire_time IS NULL OR o.close_time < o.expire_time)" MOST },
	{ INVARIANT_PAID_LATE, INVARIANT_TIME_NONE, WALKS(INVARIANT_WALK_ORDERS),
		"SELECT o.order_no, CONCAT('paid ', "
		"TIMESTAMPDIFF(MICROSECOND, o.expire_time, o.pay_time) DIV 1000, "
		"' ms after its deadline') FROM t_order o WHERE ",
		" AND o.status NOT IN ('UNPAID', 'CLOSED') AND o.pay_time >= o.expire_time" MOST },
	{ INVARIANT_OVERDUE, INVARIANT_TIME_OVERDUE, WALKS(INVARIANT_WALK_ONCE),
		"SELECT o.order_no, CONCAT('unpaid, overdue for ', "
		"TIMESTAMPDIFF(SECOND, o.expire_time, UTC_TIMESTAMP(3)), ' s') "
		"FROM t_order o WHERE ",
		" AND o.status = 'UNPAID' "
		"AND o.expire_time < UTC_TIMESTAMP(3) - INTERVAL ? MICROSECOND "
		"ORDER BY o.expire_time" MOST },
	{ INVARIANT_CLOSE_EVENT, INVARIANT_TIME_RETENTION, ORDER_WALKS,
		"SELECT counted.order_no, CONCAT(counted.events, ' ORDER_CLOSED events') FROM ("
		"SELECT o.order_no, o.close_time, (SELECT COUNT(*) FROM t_outbox_event e "
		"WHERE e.order_no = o.order_no AND e.event_type = 'ORDER_CLOSED') AS events "
		"FROM t_order o WHERE ",
		" AND o.status = 'CLOSED') counted WHERE counted.events > 1 "
		"OR (counted.events = 0 AND COALESCE(counted.close_time, UTC_TIMESTAMP(3)) > "
		"UTC_TIMESTAMP(3) - INTERVAL ? MICROSECOND)" MOST },
	{ INVARIANT_CLOSE_EVENT, INVARIANT_TIME_NONE, WALKS(INVARIANT_WALK_OUTBOX),
		"SELECT e.order_no, CONCAT('an ORDER_CLOSED event, but the order is ', "
		"COALESCE(o.status, 'not there')) FROM t_outbox_event e "
		"LEFT JOIN t_order o ON o.order_no = e.order_no WHERE ",
		" AND e.event_type = 'ORDER_CLOSED' "
		"AND (o.id IS NULL OR o.status <> 'CLOSED')" MOST },
	{ INVARIANT_RESTORE_TASK, INVARIANT_TIME_RETENTION, ORDER_WALKS,
		"SELECT o.order_no, CONCAT('no restore task for item ', i.id, ', SKU ', i.sku_id) "
		"FROM t_order o JOIN t_order_item i ON i.order_id = o.id AND i.quantity > 0 "
		"LEFT JOIN t_compensation c ON c.order_no = o.order_no "
		"AND c.kind = 'STOCK_RESTORE' "
		"AND c.idempotency_key = CONCAT('restore:', o.order_no, ':', i.id) WHERE ",
		" AND o.status = 'CLOSED' AND c.id IS NULL "
		"AND COALESCE(o.close_time, UTC_TIMESTAMP(3)) > "
		"UTC_TIMESTAMP(3) - INTERVAL ? MICROSECOND" MOST },
	{ INVARIANT_RESTORE_TASK, INVARIANT_TIME_NONE, TASK_WALKS,
		"SELECT c.order_no, CONCAT('restore task ', c.id, ' (', c.idempotency_key, ') ', "
		"IF(i.id IS NULL, 'is for no item of it', CONCAT('but the order is ', o.status))) "
		"FROM t_compensation c LEFT JOIN t_order o ON o.order_no = c.order_no "
		"LEFT JOIN t_order_item i ON i.order_id = o.id AND i.quantity > 0 "
		"AND c.idempotency_key = CONCAT('restore:', c.order_no, ':', i.id) WHERE ",
		" AND c.kind = 'STOCK_RESTORE' AND (i.id IS NULL OR o.status <> 'CLOSED')" MOST },
	{ INVARIANT_TOO_MANY_CALLS, INVARIANT_TIME_NONE, TASK_WALKS,
		"SELECT CAST(c.id AS CHAR), CONCAT(c.idempotency_key, ': ', c.calls, ' calls, ', "
		"c.retry_count, ' retries of ', c.max_retries) FROM t_compensation c WHERE ",
		" AND (c.calls > c.max_retries + 1 OR c.retry_count > c.max_retries)" MOST },
	{ INVARIANT_DEAD_WITHOUT_ALERT, INVARIANT_TIME_NONE, WALKS(INVARIANT_WALK_ONCE),
		"SELECT CAST(c.id AS CHAR), CONCAT(c.idempotency_key, ': ', "
		"IF(a.id IS NULL, 'no alert', 'its alert is resolved')) FROM t_compensation c "
		"LEFT JOIN t_alert a ON a.kind = 'TASK_DEAD' "
		"AND a.ref = CAST(c.id AS CHAR CHARACTER SET ascii) COLLATE ascii_bin WHERE ",
		" AND c.status = 'DEAD' AND (a.id IS NULL OR a.state <> 'FIRING')" MOST },
	{ INVARIANT_REFUND_TASK, INVARIANT_TIME_RETENTION, WALKS(INVARIANT_WALK_PAYMENTS),
		"SELECT p.order_no, CONCAT('no refund task for trade ', p.trade_no, "
		"' of ', p.channel, ', ', p.outcome) FROM t_payment p LEFT JOIN t_compensation c "
		"ON c.order_no = p.order_no AND c.kind = 'REFUND' "
		"AND c.idempotency_key = CONCAT('refund:', p.channel, ':', p.trade_no) WHERE ",
		" AND c.id IS NULL AND p.amount_cents > 0 "
		"AND (p.outcome IN ('LATE', 'DUPLICATE', 'MISMATCH') "
		"OR (p.outcome = 'UNKNOWN_ORDER' AND p.refund_state <> 'NONE')) "
		"AND (p.refund_state <> 'DONE' OR p.updated_at > "
		"UTC_TIMESTAMP(3) - INTERVAL ? MICROSECOND)" MOST },
	{ INVARIANT_REFUND_TASK, INVARIANT_TIME_NONE, TASK_WALKS,
		"SELECT c.order_no, CONCAT('refund task ', c.id, ' (', c.idempotency_key, "
		"') is for no payment that must go back') "
		"FROM t_compensation c LEFT JOIN t_payment p "
		"ON p.order_no = c.order_no AND p.outcome <> 'APPLIED' "
		"AND c.idempotency_key = CONCAT('refund:', p.channel, ':', p.trade_no) WHERE ",
		" AND c.kind = 'REFUND' AND p.id IS NULL" MOST },
	{ INVARIANT_LEASE_STUCK, INVARIANT_TIME_STALE, WALKS(INVARIANT_WALK_ONCE),
		"SELECT CAST(c.id AS CHAR), "
		"CONCAT('task ', c.idempotency_key, ' is RUNNING, lease ', "
		"COALESCE(CONCAT('until ', c.lease_until), 'without an end')) "
		"FROM t_compensation c WHERE ",
		" AND c.status = 'RUNNING' AND (c.lease_until IS NULL "
		"OR c.lease_until < UTC_TIMESTAMP(3) - INTERVAL ? MICROSECOND "
		"OR c.lease_until > UTC_TIMESTAMP(3) + INTERVAL 1 HOUR)" MOST },
	{ INVARIANT_LEASE_STUCK, INVARIANT_TIME_STALE, WALKS(INVARIANT_WALK_ONCE),
		"SELECT CAST(e.id AS CHAR), "
		"CONCAT('outbox row of ', e.order_no, ' is leased until ', e.lease_until) "
		"FROM t_outbox_event e WHERE ",
		" AND e.status = 'NEW' AND e.available_at <= UTC_TIMESTAMP(3) "
		"AND (e.lease_until < UTC_TIMESTAMP(3) - INTERVAL ? MICROSECOND "
		"OR e.lease_until > UTC_TIMESTAMP(3) + INTERVAL 1 HOUR)" MOST },
	{ INVARIANT_OUTBOX_STALE, INVARIANT_TIME_STALE, WALKS(INVARIANT_WALK_ONCE),
		"SELECT CAST(e.id AS CHAR), "
		"CONCAT(e.event_type, ' of ', e.order_no, ' waits since ', e.available_at) "
		"FROM t_outbox_event e WHERE ",
		" AND e.status = 'NEW' AND e.lease_until IS NULL "
		"AND e.available_at < UTC_TIMESTAMP(3) - INTERVAL ? MICROSECOND "
		"ORDER BY e.available_at" MOST },
};
const size_t invariant_query_count = ARRAY_LENGTH(invariant_queries);

/* "+ 0" keeps the server from walking the ids instead of the index meant. */
const char *invariant_query_range(enum invariant_walk walk)
{
	switch (walk) {
	case INVARIANT_WALK_ORDERS:
		return "o.id > ? AND o.id <= ?";
	case INVARIANT_WALK_OLD_CLOSES:
		return "o.close_time > ? AND o.close_time <= ? AND o.id + 0 <= ?";
	case INVARIANT_WALK_TASKS:
		return "c.id > ? AND c.id <= ?";
	case INVARIANT_WALK_OUTBOX:
		return "e.id > ? AND e.id <= ?";
	case INVARIANT_WALK_PAYMENTS:
		return "p.id > ? AND p.id <= ?";
	case INVARIANT_WALK_OPEN_TASKS:
		return "c.status IN ('PENDING', 'RUNNING', 'DEAD') AND c.id + 0 <= ?";
	case INVARIANT_WALK_ONCE:
		return "TRUE";
	}
	return "FALSE";
}
