/* Several of every daemon, payments in between, locks held: the work is shared out, once. */
#include <inttypes.h>
#include <signal.h>

#include "common/base/text.h"
#include "tests/support/fleet.h"
#include "tests/support/http_client.h"
#include "tests/support/http_stub.h"
#include "tests/support/orders.h"
#include "tests/support/process.h"
#include "tests/support/query.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"
#include "tests/support/wait_until.h"

static struct fleet *fleet;

static const struct fleet_expectation all_is_well = { .latest_ms = FLEET_ANY_LATENESS };

static void set_up(void)
{
	fleet_create(&fleet);
}

static void tear_down(void)
{
	fleet_destroy(&fleet);
}

static void start_several(enum fleet_member member, int count)
{
	for (int i = 0; i < count; i++)
		(void)fleet_start_one(fleet, member);
}

START_TEST(two_of_every_daemon_share_the_work)
{
	fleet_start(fleet);
	fleet_start(fleet);
	fleet_feed(fleet, "T", 3000, 500, 6000);
	fleet_check(fleet, &all_is_well);
	/* Nothing failed, so nothing had to be called twice. */
	ck_assert_uint_eq(http_stub_most_calls(fleet_stub(fleet)), 1);
}
END_TEST

START_TEST(consumers_and_sweepers_on_the_same_orders_close_each_once)
{
	sandbox_set(fleet_sandbox(fleet), "LAPSE_CLOSE_BATCH", "40");
	sandbox_set(fleet_sandbox(fleet), "LAPSE_SWEEP_BATCH", "40");
	fleet_feed(fleet, "C", 2000, -1000, 0);
	start_several(FLEET_PRODUCER, 1);
	start_several(FLEET_CONSUMER, 6);
	start_several(FLEET_SWEEPER, 4);
	start_several(FLEET_RETRY, 3);
	fleet_check(fleet, &all_is_well);
	ck_assert_uint_eq(http_stub_most_calls(fleet_stub(fleet)), 1);
}
END_TEST

START_TEST(paying_and_closing_exclude_each_other)
{
	char order_no[32];
	int64_t paid = 0;

	fleet_start(fleet);
	start_several(FLEET_CONSUMER, 1);
	start_several(FLEET_SWEEPER, 1);
	fleet_feed(fleet, "P", 1500, 1000, 4000);
	for (uint32_t i = 0; i < 1500; i += 1 + (uint32_t)runner_random(4)) {
		(void)text_format(order_no, sizeof(order_no), "P%" PRIu32, i);
		paid += orders_pay(fleet_query(fleet), order_no) ? 1 : 0;
	}
	fleet_settle(fleet);
	ck_assert_int_gt(paid, 0);
	ck_assert_int_eq(orders_count(fleet_query(fleet), "PAID"), paid);
	ck_assert_int_eq(orders_count(fleet_query(fleet), "CLOSED"), 1500 - paid);
	fleet_check(fleet, &all_is_well);
}
END_TEST

static double count_published(uint16_t port)
{
	return http_client_metric(
		port, "lapse_outbox_published_total{what=\"timeout\",result=\"confirmed\"}");
}

START_TEST(two_producers_publish_each_row_about_once)
{
	uint16_t ports[2];

	for (int i = 0; i < 2; i++) {
		(void)fleet_start_one(fleet, FLEET_PRODUCER);
		ports[i] = fleet_ops_port(fleet, FLEET_PRODUCER);
	}
	start_several(FLEET_CONSUMER, 1);
	start_several(FLEET_RETRY, 1);
	fleet_feed(fleet, "D", 1000, 1000, 2000);
	fleet_settle(fleet);
	double published = count_published(ports[0]) + count_published(ports[1]);
	ck_assert_msg(published >= 1000 && published <= 1010, "published: %f", published);
	fleet_check(fleet, &all_is_well);
}
END_TEST

/* A lower id that commits later is no less new than a higher one. */
START_TEST(an_outbox_row_that_commits_late_is_sent)
{
	struct query *slow = NULL;

	query_create(sandbox_mysql_url(fleet_sandbox(fleet)), &slow);
	fleet_start(fleet);
	query_run(slow, "START TRANSACTION");
	query_run(slow, "INSERT INTO t_order(order_no,user_id,amount_cents,expire_time) VALUES "
			"('SLOW',42,9900,UTC_TIMESTAMP(3) + INTERVAL 3 SECOND)");
	query_run(slow, "INSERT INTO t_outbox_event(event_type,order_no) VALUES "
			"('ORDER_CREATED','SLOW')");
	fleet_feed(fleet, "FAST", 20, 500, 500);
	fleet_settle(fleet);
	query_run(slow, "COMMIT");
	query_destroy(&slow);
	fleet_settle(fleet);
	ck_assert_int_eq(query_number(fleet_query(fleet), "SELECT COUNT(*) FROM t_outbox_event "
							  "WHERE order_no = 'SLOW' AND "
							  "status = 'SENT'"),
		2);
	fleet_check(fleet, &all_is_well);
}
END_TEST

START_TEST(a_revived_producer_takes_no_row_back)
{
	struct query *query = fleet_query(fleet);

	fleet_feed(fleet, "Z", 100, 3000, 500);
	struct process *zombie = fleet_stop_one(fleet, FLEET_PRODUCER, "after_confirm:stop");
	start_several(FLEET_PRODUCER, 1);
	start_several(FLEET_CONSUMER, 1);
	start_several(FLEET_SWEEPER, 1);
	start_several(FLEET_RETRY, 1);
	fleet_settle(fleet);
	process_signal(zombie, SIGCONT);
	fleet_feed(fleet, "Y", 100, 500, 500);
	fleet_settle(fleet);
	ck_assert_int_eq(
		query_number(query, "SELECT COUNT(*) FROM t_outbox_event WHERE status <> 'SENT'"),
		0);
	fleet_check(fleet, &all_is_well);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		two_of_every_daemon_share_the_work,
		consumers_and_sweepers_on_the_same_orders_close_each_once,
		paying_and_closing_exclude_each_other,
		two_producers_publish_each_row_about_once,
		an_outbox_row_that_commits_late_is_sent,
#ifdef LAPSE_FAILPOINTS
		a_revived_producer_takes_no_row_back,
#endif
	};
	const struct runner_fixture fixture = { set_up, tear_down };

	sandbox_need_servers();
	return runner_run_with("two_of_each", &fixture, tests, ARRAY_LENGTH(tests));
}
