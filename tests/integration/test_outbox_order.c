/* Events of one order leave in their order, whatever the broker takes and whoever else
 * publishes. */
#include <string.h>

#include "common/base/compiler.h"
#include "common/base/text.h"
#include "common/order/outbox_order.h"
#include "tests/support/claims.h"
#include "tests/support/query.h"
#include "tests/support/rabbit.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"
#include "tests/support/stack.h"
#include "tests/support/wait_until.h"

enum {
	LEASE_MS = 30000,
	LIMIT = 100
};

static struct sandbox *sandbox;
static struct query *query;
static struct claims_db ours;
static struct outbox_batch *batch;
static struct error error;

static void set_up(void)
{
	sandbox_create(SANDBOX_EVERYTHING, &sandbox);
	query = sandbox_query(sandbox);
	claims_connect(sandbox_mysql_url(sandbox), &ours);
}

static void tear_down(void)
{
	outbox_batch_destroy(&batch);
	claims_disconnect(&ours);
	sandbox_destroy(&sandbox);
}

static void insert(const char *event_type, const char *order_no)
{
	query_run(query, "INSERT INTO t_outbox_event(event_type, order_no) VALUES ('%s', '%s')",
		event_type, order_no);
}

/* What a producer may publish now: the ids. */
static void expect_published(bool is_created_told, const char *expected)
{
	char text[256] = "";
	size_t held = 0;

	outbox_batch_destroy(&batch);
	enum result result = outbox_claim(ours.db, LIMIT, LEASE_MS, NULL, &batch, &error);
	ck_assert_msg(result == RESULT_OK, "%s", error.text);
	result = outbox_order_hold_back(ours.db, batch, is_created_told, &held, &error);
	ck_assert_msg(result == RESULT_OK, "%s", error.text);
	for (size_t i = 0; i < batch->count; i++) {
		size_t used = strlen(text);

		(void)text_format(text + used, sizeof(text) - used, "%s%u", i == 0 ? "" : " ",
			(unsigned int)batch->rows[i].id);
	}
	ck_assert_str_eq(text, expected);
}

static void settle_first(bool is_sent)
{
	const struct outbox_ids first = { batch->lease_token, &batch->rows[0].id, 1 };
	size_t lost = 0;
	enum result result = is_sent ? outbox_mark_sent(ours.db, &first, &lost, &error)
				     : outbox_put_off(ours.db, &first, 0, "nacked", &error);

	ck_assert_msg(result == RESULT_OK, "%s", error.text);
}

static void make_all_due(void)
{
	query_run(query, "UPDATE t_outbox_event SET available_at = UTC_TIMESTAMP(3) "
			 "WHERE status = 'NEW'");
}

START_TEST(a_later_event_goes_when_the_earlier_one_has_gone)
{
	insert("ORDER_PAID", "A1");
	insert("PAYMENT_DUPLICATE", "A1");
	insert("PAYMENT_DUPLICATE", "A2");
	expect_published(false, "1 3");
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_outbox_event WHERE id = 2 AND "
					     "lease_token IS NULL AND attempts = 0 AND "
					     "available_at > created_at"),
		1);
	settle_first(true);
	make_all_due();
	expect_published(false, "2");
}
END_TEST

START_TEST(a_later_event_waits_for_one_that_was_not_taken)
{
	insert("ORDER_PAID", "A1");
	expect_published(false, "1");
	settle_first(false);
	query_run(query, "UPDATE t_outbox_event SET available_at = UTC_TIMESTAMP(3) + INTERVAL 1 "
			 "MINUTE");
	insert("PAYMENT_DUPLICATE", "A1");
	expect_published(false, "");
	make_all_due();
	expect_published(false, "1");
	settle_first(true);
	make_all_due();
	expect_published(false, "2");
}
END_TEST

START_TEST(events_that_were_held_back_keep_their_order_too)
{
	insert("ORDER_EXTENDED", "A1");
	insert("ORDER_PAID", "A1");
	insert("PAYMENT_DUPLICATE", "A1");
	expect_published(false, "1");
	settle_first(true);
	/* The second one sleeps still. */
	query_run(query, "UPDATE t_outbox_event SET available_at = UTC_TIMESTAMP(3) WHERE id = 3");
	expect_published(false, "");
}
END_TEST

START_TEST(nobody_waits_for_a_timeout_that_is_no_event)
{
	insert("ORDER_CREATED", "A1");
	insert("ORDER_PAID", "A1");
	expect_published(false, "1 2");
}
END_TEST

START_TEST(where_created_is_told_it_is_told_first)
{
	insert("ORDER_CREATED", "A1");
	insert("ORDER_PAID", "A1");
	expect_published(true, "1");
	settle_first(true);
	make_all_due();
	expect_published(true, "2");
}
END_TEST

START_TEST(a_timeout_that_sleeps_until_its_horizon_holds_nobody_up)
{
	query_run(query, "INSERT INTO t_order(order_no, user_id, amount_cents, expire_time) VALUES "
			 "('A1', 1, 100, UTC_TIMESTAMP(3) + INTERVAL 1 DAY)");
	insert("ORDER_CREATED", "A1");
	query_run(query, "UPDATE t_outbox_event SET attempts = 3");
	insert("ORDER_PAID", "A1");
	expect_published(true, "1");
	const struct outbox_ids first = { batch->lease_token, &batch->rows[0].id, 1 };
	ck_assert_int_eq(outbox_put_off_to_horizon(ours.db, &first, 60000, &error), RESULT_OK);
	query_run(query, "UPDATE t_outbox_event SET available_at = UTC_TIMESTAMP(3) WHERE id = 2");
	expect_published(true, "2");
}
END_TEST

START_TEST(what_can_never_be_published_holds_nobody_up)
{
	insert("ORDER_PAID", "A1");
	insert("PAYMENT_DUPLICATE", "A1");
	query_run(query, "UPDATE t_outbox_event SET status = 'FAILED' WHERE id = 1");
	expect_published(false, "2");
}
END_TEST

static bool has_failed_twice(void *context)
{
	(void)context;
	return query_number(query, "SELECT COUNT(*) FROM t_outbox_event WHERE order_no = 'A1' AND "
				   "event_type = 'ORDER_PAID' AND attempts >= 2") == 1;
}

static bool is_all_sent(void *context)
{
	(void)context;
	return query_number(query, "SELECT COUNT(*) FROM t_outbox_event WHERE status <> 'SENT'") ==
	       0;
}

/* A queue that is full refuses one event of an order and would take the next one. */
START_TEST(a_refused_event_is_not_overtaken)
{
	static const char limit[] = "{\"max-length\":1,\"overflow\":\"reject-publish\"}";
	const char *const words[] = { "rabbitmqctl", "-q", "-p", sandbox_name(sandbox),
		"set_policy", "full", "^paid$", limit, NULL };
	struct rabbit *rabbit = sandbox_rabbit(sandbox);

	rabbit_declare_exchange(rabbit, "lapse.events", "topic");
	rabbit_declare_queue(rabbit, "paid");
	rabbit_bind(rabbit, "paid", "lapse.events", "order.paid");
	rabbit_declare_queue(rabbit, "later");
	rabbit_bind(rabbit, "later", "lapse.events", "payment.duplicate");
	stack_command(words);
	insert("ORDER_PAID", "A0");
	(void)sandbox_start(sandbox, "lapse-producer", NULL);
	WAIT_UNTIL(is_all_sent, NULL);
	insert("ORDER_PAID", "A1");
	insert("PAYMENT_DUPLICATE", "A1");
	insert("PAYMENT_DUPLICATE", "A2");
	WAIT_UNTIL(has_failed_twice, NULL);
	ck_assert_int_eq(rabbit_count(rabbit, "later"), 1);
	rabbit_purge(rabbit, "paid");
	WAIT_UNTIL(is_all_sent, NULL);
	ck_assert_int_eq(rabbit_count(rabbit, "later"), 2);
	ck_assert_int_eq(
		query_number(query, "SELECT a.sent_at <= b.sent_at FROM t_outbox_event a, "
				    "t_outbox_event b WHERE a.order_no = 'A1' AND a.event_type = "
				    "'ORDER_PAID' AND b.order_no = 'A1' AND b.event_type = "
				    "'PAYMENT_DUPLICATE'"),
		1);
}
END_TEST

int main(void)
{
	static const struct runner_fixture fixture = { set_up, tear_down };
	const TTest *const tests[] = {
		a_later_event_goes_when_the_earlier_one_has_gone,
		a_later_event_waits_for_one_that_was_not_taken,
		events_that_were_held_back_keep_their_order_too,
		nobody_waits_for_a_timeout_that_is_no_event,
		where_created_is_told_it_is_told_first,
		a_timeout_that_sleeps_until_its_horizon_holds_nobody_up,
		what_can_never_be_published_holds_nobody_up,
		a_refused_event_is_not_overtaken,
	};

	sandbox_need_servers();
	return runner_run_with("outbox_order", &fixture, tests, ARRAY_LENGTH(tests));
}
