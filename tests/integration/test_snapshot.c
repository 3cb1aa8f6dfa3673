/* snapshot: figures as the tables and queues have them, each part for itself, one leader. */
#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/base/settings.h"
#include "common/base/text.h"
#include "common/io/broker.h"
#include "common/io/db.h"
#include "common/io/httpd.h"
#include "common/order/topology.h"
#include "common/report/snapshot.h"
#include "tests/support/connection.h"
#include "tests/support/orders.h"
#include "tests/support/query.h"
#include "tests/support/rabbit.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"
#include "tests/support/wait_until.h"

enum {
	TURN_MAX_MS = 20,
	URL_SIZE = 128,
};

static struct sandbox *sandbox;
static struct query *query;
static struct db_settings mysql;
static struct broker_settings amqp;
static struct topology_settings topology_settings;
static struct snapshot_settings settings;
static struct snapshot *snapshot;
static const struct snapshot_figures *figures;
static struct httpd *metrics_page; /* of the broker, played by the test */

static void set_up(void)
{
	sandbox_create(SANDBOX_EVERYTHING, &sandbox);
	query = sandbox_query(sandbox);
	mysql = (struct db_settings){ memory_copy_text(sandbox_mysql_url(sandbox)), 1000 };
	amqp = (struct broker_settings){ .url = memory_copy_text(sandbox_amqp_url(sandbox)),
		.prefix = memory_copy_text("lapse"),
		.heartbeat_ms = 20000 };
	topology_settings = (struct topology_settings){
		.delay = TOPOLOGY_MODE_AUTO, .fixed = { { 5000 }, 1 }, .horizon_ms = 9000
	};
	settings = (struct snapshot_settings){ .mysql = &mysql,
		.amqp = &amqp,
		.topology = &topology_settings,
		.overdue_grace_ms = 5000,
		.sweep_interval_ms = 60000,
		.retention_ms = DAYS(7),
		.lease_ms = 30000 };
}

static void tear_down(void)
{
	snapshot_destroy(&snapshot);
	httpd_destroy(&metrics_page);
	free(mysql.url);
	free(amqp.url);
	free(amqp.prefix);
	sandbox_destroy(&sandbox);
}

/* Turns of a loop, until one more snapshot is complete. */
static void take_next(struct snapshot *one)
{
	uint64_t end_ms = clock_now_ms() + WAIT_LIMIT_MS;
	bool is_new = false;

	while (!is_new) {
		uint64_t wait_ms = snapshot_work(one, &is_new);

		ck_assert_msg(clock_now_ms() < end_ms, "no snapshot");
		if (metrics_page != NULL)
			httpd_step(metrics_page, 0);
		clock_wait_ms(wait_ms < TURN_MAX_MS ? wait_ms : TURN_MAX_MS);
	}
	figures = snapshot_figures(one);
}

static void take_first(void)
{
	snapshot_create(&settings, &snapshot);
	take_next(snapshot);
}

static void expect_known(enum snapshot_part part, bool is_known)
{
	const struct snapshot_state *state = &figures->parts[part];

	ck_assert_msg(state->is_known == is_known, "%s is %s: %s", snapshot_part_names[part],
		state->is_known ? "known" : "unknown", state->why);
	ck_assert(is_known == (state->why[0] == '\0'));
}

static void expect_all_tables_known(bool is_known)
{
	for (int part = 0; part <= SNAPSHOT_PART_INVARIANTS; part++)
		expect_known((enum snapshot_part)part, is_known);
}

static void expect_pile(const struct snapshot_pile *pile, uint64_t count, uint64_t oldest_s)
{
	ck_assert_uint_eq(pile->count, count);
	ck_assert_uint_ge(pile->oldest_ms, oldest_s * 1000);
	ck_assert_uint_lt(pile->oldest_ms, (oldest_s + 60) * 1000);
}

START_TEST(empty_tables_give_zeros_and_nothing_that_is_old)
{
	take_first();
	ck_assert_uint_eq(figures->number, 1);
	expect_all_tables_known(true);
	ck_assert_uint_eq(strlen(figures->time), strlen("2026-01-31T10:21:03.120Z"));
	ck_assert_uint_eq(figures->waiting, 0);
	ck_assert_uint_eq(figures->overdue.count + figures->overdue.oldest_ms, 0);
	ck_assert_uint_eq(figures->outbox_new.oldest_ms + figures->outbox_failed.oldest_ms, 0);
	ck_assert_uint_eq(figures->alerts_firing + figures->alerts_undelivered.oldest_ms, 0);
	ck_assert_uint_eq(figures->lateness[SNAPSHOT_WINDOW_24_H].count, 0);
	ck_assert_int_eq(figures->last_close_age_ms, -1);
	ck_assert_int_eq(figures->last_publish_age_ms, -1);
	ck_assert(snapshot_age_ms(snapshot) < 60000);
	/* The queues are asked for, and not there. */
	expect_known(SNAPSHOT_PART_QUEUES, true);
	ck_assert(!figures->queues[TOPOLOGY_ROLE_DUE].is_there);
	ck_assert_int_eq(figures->mode, TOPOLOGY_MODE_AUTO);
	expect_known(SNAPSHOT_PART_UNACKED, false);
	ck_assert_uint_eq(figures->parts[SNAPSHOT_PART_UNACKED].errors, 0);
}
END_TEST

static void insert_rows(void)
{
	orders_insert_one(query, "W1", 3600000);
	orders_insert_one(query, "G1", -2000); /* inside the grace */
	orders_insert_one(query, "O1", -300000);
	orders_insert_one(query, "O2", -60000);
	query_run(query,
		"UPDATE t_outbox_event SET available_at = UTC_TIMESTAMP(3) - INTERVAL 100 SECOND; "
		"UPDATE t_outbox_event SET available_at = UTC_TIMESTAMP(3) + INTERVAL 1 HOUR "
		"WHERE order_no = 'W1'; "
		"UPDATE t_outbox_event SET status = 'FAILED', available_at = UTC_TIMESTAMP(3) "
		"- INTERVAL 1000 SECOND WHERE order_no = 'O2'");
	query_run(query,
		"INSERT INTO t_compensation (kind, target, idempotency_key, order_no, payload, "
		"status, created_at, next_retry_at) VALUES "
		"('REFUND', 'refund', 'refund:1', 'O1', '{}', 'PENDING', "
		"UTC_TIMESTAMP(3) - INTERVAL 600 SECOND, UTC_TIMESTAMP(3) + INTERVAL 1 HOUR), "
		"('REFUND', 'refund', 'refund:2', 'O1', '{}', 'DEAD', "
		"UTC_TIMESTAMP(3) - INTERVAL 6000 SECOND, UTC_TIMESTAMP(3) - INTERVAL 120 SECOND), "
		"('WEBHOOK', 'w', 'webhook:1', 'O1', '{}', 'DONE', UTC_TIMESTAMP(3), "
		"UTC_TIMESTAMP(3))");
	query_run(query,
		"INSERT INTO t_payment (channel, trade_no, order_no, amount_cents, currency, "
		"outcome, refund_state, created_at) VALUES "
		"('pay', 'T1', 'O1', 1, 'CNY', 'LATE', 'PENDING', "
		"UTC_TIMESTAMP(3) - INTERVAL 240 SECOND), "
		"('pay', 'T2', 'O1', 1, 'CNY', 'LATE', 'FAILED', UTC_TIMESTAMP(3)), "
		"('pay', 'T3', 'O1', 1, 'CNY', 'MISMATCH', 'DONE', UTC_TIMESTAMP(3))");
	query_run(query,
		"INSERT INTO t_alert (kind, ref, severity, labels, annotations, state, fired_at, "
		"silenced_until, delivery_state) VALUES "
		"('TASK_DEAD', '1', 'warning', '{}', '{}', 'FIRING', "
		"UTC_TIMESTAMP(3) - INTERVAL 180 SECOND, NULL, 'PENDING'), "
		"('TASK_DEAD', '2', 'warning', '{}', '{}', 'FIRING', "
		"UTC_TIMESTAMP(3) - INTERVAL 999 SECOND, UTC_TIMESTAMP(3) + INTERVAL 1 HOUR, "
		"'PENDING'), "
		"('TASK_DEAD', '3', 'warning', '{}', '{}', 'FIRING', UTC_TIMESTAMP(3), NULL, "
		"'SENT'), "
		"('TASK_DEAD', '4', 'warning', '{}', '{}', 'FIRING', "
		"UTC_TIMESTAMP(3) - INTERVAL 190 SECOND, NULL, 'FAILED')");
}

START_TEST(every_pile_is_counted_with_its_oldest)
{
	insert_rows();
	take_first();
	expect_all_tables_known(true);
	ck_assert_uint_eq(figures->waiting, 1);
	expect_pile(&figures->overdue, 2, 300);
	expect_pile(&figures->outbox_new, 2, 100);
	expect_pile(&figures->outbox_failed, 1, 1000);
	expect_pile(&figures->tasks[COMPENSATION_KIND_REFUND][COMPENSATION_STATUS_PENDING], 1, 600);
	expect_pile(&figures->tasks[COMPENSATION_KIND_REFUND][COMPENSATION_STATUS_DEAD], 1, 120);
	expect_pile(&figures->tasks[COMPENSATION_KIND_WEBHOOK][COMPENSATION_STATUS_PENDING], 0, 0);
	expect_pile(&figures->refunds[PAYMENT_OUTCOME_LATE], 2, 240);
	expect_pile(&figures->refunds[PAYMENT_OUTCOME_MISMATCH], 0, 0);
	ck_assert_uint_eq(figures->alerts_firing, 4);
	ck_assert_uint_eq(figures->alerts_silenced, 1);
	expect_pile(&figures->alerts_undelivered, 2, 190);
	/* Overdue by more than two sweep intervals, dead without its alert, and so on. */
	ck_assert_uint_eq(figures->violations[INVARIANT_OVERDUE], 1);
	ck_assert_uint_eq(figures->violations[INVARIANT_CLOSED_EARLY], 0);
}
END_TEST

/* Closes of 1 to 100 ms late by message a moment ago, and ten of one minute by sweep before. */
static void insert_closes(void)
{
	static const char sql[] =
		"INSERT INTO t_order (order_no, amount_cents, status, expire_time, close_time, "
		"close_reason, close_source) SELECT '%s%d', 1, 'CLOSED', "
		"moment - INTERVAL %d MICROSECOND, moment, '%s', '%s' "
		"FROM (SELECT UTC_TIMESTAMP(3) - INTERVAL %d MINUTE AS moment) m";

	for (int ms = 1; ms <= 100; ms++)
		query_run(query, sql, "M", ms, ms * 1000, "TIMEOUT", "message", 0);
	for (int i = 1; i <= 10; i++)
		query_run(query, sql, "S", i, 60000000, "TIMEOUT", "sweep", 20);
	query_run(query, sql, "U", 1, -60000000, "USER_CANCEL", "api", 0);
}

static void expect_lateness(enum snapshot_window window, uint64_t count, int64_t p50, int64_t p99)
{
	const struct snapshot_lateness *lateness = &figures->lateness[window];

	ck_assert_uint_eq(lateness->count, count);
	ck_assert_int_eq(lateness->p50_ms, p50);
	ck_assert_int_eq(lateness->p99_ms, p99);
	ck_assert(!lateness->is_cut);
}

START_TEST(lateness_is_the_nearest_rank_of_each_window)
{
	insert_closes();
	take_first();
	expect_lateness(SNAPSHOT_WINDOW_15_MIN, 100, 50, 99);
	expect_lateness(SNAPSHOT_WINDOW_MESSAGE, 100, 50, 99);
	expect_lateness(SNAPSHOT_WINDOW_1_H, 110, 55, 60000);
	expect_lateness(SNAPSHOT_WINDOW_24_H, 110, 55, 60000);
	ck_assert_uint_eq(figures->timeout_closes, 110);
	ck_assert_uint_eq(figures->sweep_closes, 10);
	ck_assert_int_ge(figures->last_close_age_ms, 0);
	ck_assert_int_lt(figures->last_close_age_ms, 60000);
	ck_assert_int_ge(figures->last_sweep_close_age_ms, (int64_t)MINUTES(20));
}
END_TEST

START_TEST(a_part_that_fails_is_unknown_and_the_others_go_on)
{
	query_run(query, "ALTER TABLE t_payment RENAME COLUMN refund_state TO elsewhere");
	take_first();
	expect_known(SNAPSHOT_PART_REFUNDS, false);
	ck_assert_ptr_nonnull(strstr(figures->parts[SNAPSHOT_PART_REFUNDS].why, "refund_state"));
	ck_assert_uint_eq(figures->parts[SNAPSHOT_PART_REFUNDS].errors, 1);
	expect_known(SNAPSHOT_PART_TASKS, true);
	expect_known(SNAPSHOT_PART_ALERTS, true);
	expect_known(SNAPSHOT_PART_QUEUES, true);
	query_run(query, "ALTER TABLE t_payment RENAME COLUMN elsewhere TO refund_state");
	take_next(snapshot);
	expect_known(SNAPSHOT_PART_REFUNDS, true);
	ck_assert_uint_eq(figures->parts[SNAPSHOT_PART_REFUNDS].errors, 1);
}
END_TEST

START_TEST(without_mysql_the_queues_are_still_known)
{
	mysql.url[strlen("mysql://")] = '!'; /* nobody of this name */
	take_first();
	expect_all_tables_known(false);
	expect_known(SNAPSHOT_PART_QUEUES, true);
	ck_assert(!snapshot_is_leader(snapshot));
}
END_TEST

#define UNACKED "rabbitmq_detailed_queue_messages_unacked"

static void answer_metrics(
	void *context, const struct httpd_request *request, struct httpd_answer *answer)
{
	char page[1024];

	(void)context;
	ck_assert_str_eq(httpd_query(request, "family"), "queue_coarse_metrics");
	ck_assert_str_eq(httpd_query(request, "vhost"), sandbox_name(sandbox));
	(void)text_format(page, sizeof(page),
		"# TYPE " UNACKED " gauge\n" UNACKED
		"{vhost=\"%s\",queue=\"lapse.timeout.due\"} 7\n" UNACKED
		"{vhost=\"other\",queue=\"lapse.parked\"} 9\n"
		"rabbitmq_detailed_queue_messages_ready{vhost=\"%s\",queue=\"lapse.parked\"} 5\n",
		sandbox_name(sandbox), sandbox_name(sandbox));
	answer->status = 200;
	answer->body_adopt = memory_copy_text(page);
	answer->body_size = strlen(page);
}

static const struct httpd_route metrics_routes[] = {
	{ "GET", "/metrics/detailed", answer_metrics },
	{ NULL, NULL, NULL },
};

static void declare_levels(void)
{
	struct topology_settings levels = topology_settings;
	struct connection *line = NULL;
	struct topology *topology = NULL;

	levels.delay = TOPOLOGY_MODE_LEVELS;
	connection_create(sandbox_amqp_url(sandbox), &line);
	topology_create(&levels, &line->settings, &topology);
	connection_expect(line, topology_declare(topology, line->broker, &line->error), RESULT_OK);
	topology_destroy(&topology);
	connection_destroy(&line);
}

START_TEST(queues_are_counted_by_the_broker_and_its_page)
{
	const struct httpd_settings page = { .address = "127.0.0.1:0",
		.routes = metrics_routes,
		.body_max = 1024,
		.connection_max = 4,
		.time_limit_ms = 5000 };
	char url[URL_SIZE];

	ck_assert_int_eq(httpd_create(&page, &metrics_page, NULL), RESULT_OK);
	(void)text_format(url, sizeof(url), "http://127.0.0.1:%u/", httpd_port(metrics_page));
	settings.amqp_metrics_url = url;
	declare_levels();
	for (int i = 0; i < 3; i++)
		rabbit_publish_order(sandbox_rabbit(sandbox), "lapse.parked", "A1");
	take_first();
	expect_known(SNAPSHOT_PART_QUEUES, true);
	expect_known(SNAPSHOT_PART_UNACKED, true);
	ck_assert_int_eq(figures->mode, TOPOLOGY_MODE_LEVELS);
	ck_assert_uint_eq(figures->queue_count, 3 + TOPOLOGY_LEVELS + 2);
	for (size_t i = 0; i < figures->queue_count; i++)
		if (i != TOPOLOGY_ROLE_WEBHOOKS) /* lapse-events declares it */
			ck_assert_msg(figures->queues[i].is_there, "queue %zu", i);
	ck_assert_uint_eq(figures->queues[TOPOLOGY_ROLE_PARKED].ready, 3);
	ck_assert_uint_eq(figures->queues[TOPOLOGY_ROLE_PARKED].unacked, 0);
	ck_assert_uint_eq(figures->queues[TOPOLOGY_ROLE_DUE].unacked, 7);
	ck_assert_uint_eq(figures->queues[TOPOLOGY_ROLE_DUE].consumers, 0);
	ck_assert_ptr_nonnull(strstr(figures->broker, "RabbitMQ"));
}
END_TEST

START_TEST(one_of_two_leads_and_the_other_takes_over_when_it_ends)
{
	struct snapshot *other = NULL;

	take_first();
	ck_assert(snapshot_is_leader(snapshot));
	snapshot_create(&settings, &other);
	take_next(other);
	ck_assert(!snapshot_is_leader(other));
	take_next(snapshot);
	ck_assert(snapshot_is_leader(snapshot));
	snapshot_destroy(&snapshot);
	snapshot = other;
	/* The server may take a moment to see that the other one has left. */
	take_next(snapshot);
	if (!snapshot_is_leader(snapshot))
		take_next(snapshot);
	ck_assert(snapshot_is_leader(snapshot));
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		empty_tables_give_zeros_and_nothing_that_is_old,
		every_pile_is_counted_with_its_oldest,
		lateness_is_the_nearest_rank_of_each_window,
		a_part_that_fails_is_unknown_and_the_others_go_on,
		without_mysql_the_queues_are_still_known,
		queues_are_counted_by_the_broker_and_its_page,
		one_of_two_leads_and_the_other_takes_over_when_it_ends,
	};
	const struct runner_fixture fixture = { set_up, tear_down };

	sandbox_need_servers();
	return runner_run_with("snapshot", &fixture, tests, ARRAY_LENGTH(tests));
}
