/* lapsectl cancel and order extend. */

#include "common/base/result.h"
#include "tests/support/fleet.h"
#include "tests/support/operator.h"
#include "tests/support/orders.h"
#include "tests/support/query.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"
#include "tests/support/wait_until.h"

#define HOUR_MS INT64_C(3600000)

static struct sandbox *sandbox;
static struct query *query;

static void set_up(void)
{
	sandbox_create(SANDBOX_EVERYTHING, &sandbox);
	query = sandbox_query(sandbox);
}

static void tear_down(void)
{
	sandbox_destroy(&sandbox);
}

/* ---- cancel */

START_TEST(an_order_is_closed_by_hand_with_its_audit_row)
{
	orders_insert_one(query, "A1", HOUR_MS);
	operator_expect(sandbox, 0, "cancel A1 --reason customer-called --confirm A1 --actor maria",
		"order A1 is CLOSED");
	query_expect(query, "CLOSED OPERATOR console",
		"SELECT status, close_reason, close_source FROM t_order");
	query_expect(query, "1 1",
		"SELECT (SELECT COUNT(*) FROM t_outbox_event WHERE event_type = "
		"'ORDER_CLOSED'), (SELECT COUNT(*) FROM t_compensation)");
	query_expect(query, "maria cancel order A1 ok customer-called \"UNPAID\" \"CLOSED\"",
		"SELECT actor, action, target_type, target_id, result, reason_text, "
		"JSON_EXTRACT(before_json, '$.status'), JSON_EXTRACT(after_json, '$.status') "
		"FROM t_operator_audit");
	operator_expect(sandbox, 0, "verify", NULL);
}
END_TEST

START_TEST(what_is_final_stays_and_the_refusal_is_kept)
{
	orders_insert_one(query, "P1", HOUR_MS);
	orders_insert_one(query, "C1", HOUR_MS);
	ck_assert(orders_pay(query, "P1"));
	operator_expect(sandbox, 0, "order cancel C1 --reason first-time --confirm C1", NULL);
	operator_expect(sandbox, EXIT_STATUS_REFUSED, "cancel C1 --reason once-more --confirm C1",
		"it is CLOSED already");
	operator_expect(sandbox, EXIT_STATUS_REFUSED, "cancel P1 --reason once-more --confirm P1",
		"it is PAID");
	operator_expect(sandbox, EXIT_STATUS_NOT_FOUND, "cancel N1 --reason once-more --confirm N1",
		"there is no order N1");
	query_expect(query, "ok refused refused",
		"SELECT GROUP_CONCAT(result ORDER BY id SEPARATOR ' ') FROM t_operator_audit");
	query_expect(query, "1",
		"SELECT COUNT(*) FROM t_outbox_event WHERE event_type = 'ORDER_CLOSED'");
}
END_TEST

START_TEST(a_cancel_without_reason_or_confirmation_does_nothing)
{
	orders_insert_one(query, "A1", HOUR_MS);
	operator_expect(sandbox, EXIT_STATUS_USAGE, "cancel A1 --confirm A1", "--reason");
	operator_expect(
		sandbox, EXIT_STATUS_USAGE, "cancel A1 --reason abcd --confirm A1", "5 to 500");
	operator_expect(sandbox, EXIT_STATUS_USAGE, "cancel A1 --reason because", "--confirm");
	operator_expect(
		sandbox, EXIT_STATUS_USAGE, "cancel A1 --reason because --yes", "--confirm");
	operator_expect(sandbox, EXIT_STATUS_REFUSED, "cancel A1 --reason because --confirm A2",
		"not the number");
	operator_expect(
		sandbox, EXIT_STATUS_USAGE, "cancel A1 A2 --reason because --confirm A1", NULL);
	operator_expect(
		sandbox, EXIT_STATUS_USAGE, "cancel A'1 --reason because --confirm A'1", NULL);
	operator_expect(
		sandbox, 0, "cancel A1 --reason because --dry-run", "dry run: order A1 is UNPAID");
	query_expect(query, "UNPAID 0", "SELECT status, version FROM t_order");
	query_expect(query, "0", "SELECT COUNT(*) FROM t_operator_audit");
}
END_TEST

/* Without its audit row the close must not happen. */
START_TEST(a_close_that_cannot_be_written_down_is_taken_back)
{
	orders_insert_one(query, "A1", HOUR_MS);
	query_run(query,
		"ALTER TABLE t_operator_audit ADD CONSTRAINT ck_no CHECK (action <> 'cancel')");
	operator_expect(
		sandbox, EXIT_STATUS_FAILED, "cancel A1 --reason because --confirm A1", NULL);
	query_expect(query, "UNPAID 0", "SELECT status, version FROM t_order");
	query_expect(query, "0", "SELECT COUNT(*) FROM t_compensation");
}
END_TEST

/* ---- extend */

START_TEST(a_deadline_moves_later_with_one_event_and_one_audit_row)
{
	orders_insert_one(query, "A1", HOUR_MS);
	query_run(query,
		"UPDATE t_order SET expire_time = '2099-01-01 00:00:00', "
		"trace_parent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'");
	operator_expect(sandbox, 0,
		"order extend A1 --by 90m --yes --actor maria --reason customer-asked --plain",
		"A1\tUNPAID\t2099-01-01T00:00:00.000Z\t2099-01-01T01:30:00.000Z");
	query_expect(query, "UNPAID 1 2099-01-01 01:30:00.000",
		"SELECT status, version, expire_time FROM t_order");
	operator_expect(sandbox, 0, "order extend A1 --until 2099-02-01T00:00Z --yes",
		"2099-02-01T00:00:00.000Z");
	query_expect(query, "2 \"2099-02-01T00:00:00.000Z\" 1",
		"SELECT COUNT(*), MAX(JSON_EXTRACT(payload, '$.expire_time')), "
		"COUNT(DISTINCT trace_parent) FROM t_outbox_event WHERE event_type = "
		"'ORDER_EXTENDED' AND trace_parent IS NOT NULL");
	query_expect(query,
		"maria extend order A1 ok customer-asked \"2099-01-01T00:00:00.000Z\" "
		"\"2099-01-01T01:30:00.000Z\"",
		"SELECT actor, action, target_type, target_id, result, reason_text, "
		"JSON_EXTRACT(before_json, '$.expire_time'), "
		"JSON_EXTRACT(after_json, '$.expire_time') FROM t_operator_audit ORDER BY id "
		"LIMIT 1");
}
END_TEST

START_TEST(a_deadline_never_moves_earlier_nor_into_the_past)
{
	static const char *const lines[] = { "order extend A1 --until 2098-12-31T23:59Z --yes",
		"order extend A1 --until 2099-01-01T00:00:00.000Z --yes",
		"order extend D1 --by 1s --yes" };

	orders_insert_one(query, "A1", HOUR_MS);
	orders_insert_one(query, "D1", -HOUR_MS);
	query_run(query, "UPDATE t_order SET expire_time = '2099-01-01 00:00:00' WHERE "
			 "order_no = 'A1'");
	for (size_t i = 0; i < ARRAY_LENGTH(lines); i++)
		operator_expect(sandbox, EXIT_STATUS_REFUSED, lines[i], "not later");
	query_expect(query, "0 0",
		"SELECT SUM(version), (SELECT COUNT(*) FROM t_outbox_event WHERE event_type "
		"= 'ORDER_EXTENDED') FROM t_order");
	query_expect(query, "3", "SELECT COUNT(*) FROM t_operator_audit WHERE result = 'refused'");
	/* Overdue, but nobody has closed it yet. */
	operator_expect(sandbox, 0, "order extend D1 --by 2h --yes", NULL);
}
END_TEST

START_TEST(only_an_unpaid_order_with_a_deadline_is_extended)
{
	static const struct order_plan never = { .order_no = "N1", .has_no_deadline = true };

	orders_insert(query, &never);
	orders_insert_one(query, "P1", HOUR_MS);
	ck_assert(orders_pay(query, "P1"));
	operator_expect(
		sandbox, EXIT_STATUS_REFUSED, "order extend N1 --by 1h --yes", "no deadline");
	operator_expect(
		sandbox, EXIT_STATUS_REFUSED, "order extend P1 --by 1h --yes", "not UNPAID");
	operator_expect(sandbox, EXIT_STATUS_NOT_FOUND, "order extend X1 --by 1h --yes",
		"there is no order X1");
	operator_expect(
		sandbox, EXIT_STATUS_USAGE, "order extend P1 --yes", "either --until or --by");
	operator_expect(sandbox, EXIT_STATUS_USAGE,
		"order extend P1 --by 1h --until 2099-01-01T00:00Z --yes",
		"either --until or --by");
	operator_expect(sandbox, EXIT_STATUS_USAGE, "order extend P1 --by 0s --yes", NULL);
	operator_expect(
		sandbox, EXIT_STATUS_USAGE, "order extend P1 --until later --yes", "is not a time");
	operator_expect(sandbox, EXIT_STATUS_USAGE, "order extend P1 --by 1h", "--yes is needed");
	query_expect(query, "2", "SELECT COUNT(*) FROM t_operator_audit");
}
END_TEST

static bool is_closed(void *context)
{
	(void)context;
	return orders_is(query, "A1", "CLOSED");
}

/* The message that is under way comes early and is armed again. */
START_TEST(an_extended_order_closes_at_its_new_deadline)
{
	struct fleet *fleet = NULL;

	fleet_create(&fleet);
	struct query *outer = query;
	struct sandbox *outer_sandbox = sandbox;
	sandbox = fleet_sandbox(fleet);
	query = fleet_query(fleet);
	(void)fleet_start_one(fleet, FLEET_PRODUCER);
	(void)fleet_start_one(fleet, FLEET_CONSUMER);
	fleet_await_ready(fleet, FLEET_CONSUMER, true);
	fleet_await_ready(fleet, FLEET_PRODUCER, true);
	orders_insert_one(query, "A1", 2000);
	operator_expect(sandbox, 0, "order extend A1 --by 2s --yes", NULL);
	WAIT_UNTIL(is_closed, NULL);
	query_expect(query, "1 message",
		"SELECT close_time >= expire_time AND close_time < expire_time + "
		"INTERVAL 1 SECOND, close_source FROM t_order");
	query_expect(query, "4",
		"SELECT ROUND(TIMESTAMPDIFF(MICROSECOND, created_at, expire_time) / 1000000) "
		"FROM t_order");
	query = outer;
	sandbox = outer_sandbox;
	fleet_destroy(&fleet);
}
END_TEST

int main(void)
{
	const struct runner_fixture fixture = { set_up, tear_down };
	const TTest *const tests[] = {
		an_order_is_closed_by_hand_with_its_audit_row,
		what_is_final_stays_and_the_refusal_is_kept,
		a_cancel_without_reason_or_confirmation_does_nothing,
		a_close_that_cannot_be_written_down_is_taken_back,
		a_deadline_moves_later_with_one_event_and_one_audit_row,
		a_deadline_never_moves_earlier_nor_into_the_past,
		only_an_unpaid_order_with_a_deadline_is_extended,
		an_extended_order_closes_at_its_new_deadline,
	};

	sandbox_need_servers();
	return runner_run_with("order_command", &fixture, tests, ARRAY_LENGTH(tests));
}
