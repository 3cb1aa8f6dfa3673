/* lapsectl status: figures as the tables and queues have them; unknown is never a number. */
#include <stdlib.h>
#include <string.h>

#include "common/base/compiler.h"
#include "common/base/result.h"
#include "common/base/text.h"
#include "common/io/json.h"
#include "tests/support/orders.h"
#include "tests/support/query.h"
#include "tests/support/rabbit.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"

enum {
	OUTPUT_MAX = 1048576
};

static struct sandbox *sandbox;

static void set_up(void)
{
	sandbox_create(SANDBOX_EVERYTHING, &sandbox);
}

static void tear_down(void)
{
	sandbox_destroy(&sandbox);
}

/* The document, owned by the caller, and the exit status of --check. */
static struct json *read_status(int *status_out)
{
	static const char *const words[] = { "status", "--check", "--json", "-q", NULL };
	struct json *root = NULL;
	char *output = NULL;

	*status_out = sandbox_run(sandbox, "lapsectl", words, &output);
	ck_assert_msg(json_parse(output, strlen(output), OUTPUT_MAX, &root, NULL) == RESULT_OK,
		"%s", output);
	free(output);
	return root;
}

static int64_t number(const struct json *root, const char *name)
{
	int64_t value = -1;

	ck_assert_msg(json_get_int(root, name, &value), "no number %s", name);
	return value;
}

/* "green" when it stands in no list. */
static const char *level(const struct json *root, const char *name)
{
	const char *word = json_get_text(json_get(root, "levels"), name);

	return word == NULL ? "green" : word;
}

START_TEST(orders_that_are_overdue_are_counted_and_the_oldest_is_told)
{
	struct query *query = sandbox_query(sandbox);
	int status = 0;

	sandbox_unset(sandbox, "LAPSE_AMQP_URL");
	orders_insert_one(query, "W1", 3600000);
	orders_insert_one(query, "W2", 3600000);
	query_run(query, "UPDATE t_outbox_event SET available_at = UTC_TIMESTAMP(3)");
	struct json *root = read_status(&status);
	ck_assert_int_eq(status, EXIT_STATUS_OK);
	ck_assert_int_eq(number(root, "orders_waiting"), 2);
	ck_assert_int_eq(number(root, "orders_overdue"), 0);
	ck_assert_int_eq(number(root, "outbox_due"), 2);
	json_destroy(&root);

	orders_insert_one(query, "O1", -INT64_C(400) * 86400 * 1000);
	root = read_status(&status);
	ck_assert_int_eq(status, EXIT_STATUS_FAILED);
	ck_assert_int_eq(number(root, "orders_overdue"), 1);
	ck_assert_int_ge(number(root, "orders_overdue_oldest_ms"), INT64_C(34560000) * 1000);
	ck_assert_int_lt(number(root, "orders_overdue_oldest_ms"), INT64_C(34560100) * 1000);
	ck_assert_str_eq(level(root, "orders_overdue"), "red");
	json_destroy(&root);
}
END_TEST

START_TEST(lateness_is_the_nearest_rank_of_the_last_hour)
{
	struct query *query = sandbox_query(sandbox);
	int status = 0;

	sandbox_unset(sandbox, "LAPSE_AMQP_URL");
	struct json *root = read_status(&status);
	ck_assert_int_eq(number(root, "closes_last_hour"), 0);
	ck_assert_ptr_null(json_get_text(root, "lateness_p50_ms"));
	json_destroy(&root);

	for (int ms = 1; ms <= 100; ms++)
		query_run(query,
			"INSERT INTO t_order (order_no, amount_cents, status, expire_time, "
			"close_time, close_reason, close_source) VALUES ('C%d', 1, 'CLOSED', "
			"UTC_TIMESTAMP(3) - INTERVAL 1 MINUTE, UTC_TIMESTAMP(3) - INTERVAL 1 "
			"MINUTE + INTERVAL %d MICROSECOND, 'TIMEOUT', '%s')",
			ms, ms * 1000, ms <= 3 ? "sweep" : "message");
	query_run(query, "UPDATE t_order SET close_time = expire_time + INTERVAL "
			 "SUBSTRING(order_no, 2) * 1000 MICROSECOND");
	root = read_status(&status);
	ck_assert_int_eq(number(root, "closes_last_hour"), 100);
	ck_assert_int_eq(number(root, "closes_by_sweep_last_hour"), 3);
	ck_assert_int_eq(number(root, "lateness_p50_ms"), 50);
	ck_assert_int_eq(number(root, "lateness_p99_ms"), 99);
	json_destroy(&root);
}
END_TEST

START_TEST(a_dead_task_and_an_undelivered_alert_are_red)
{
	struct query *query = sandbox_query(sandbox);
	int status = 0;

	sandbox_unset(sandbox, "LAPSE_AMQP_URL");
	query_run(query, "INSERT INTO t_compensation (kind, target, idempotency_key, order_no, "
			 "payload, status, created_at, next_retry_at) VALUES "
			 "('REFUND', 'refund', 'refund:x:1', 'A1', '{}', 'DEAD', "
			 "UTC_TIMESTAMP(3) - INTERVAL 99 MINUTE, "
			 "UTC_TIMESTAMP(3) - INTERVAL 2 MINUTE), "
			 "('WEBHOOK', 'shop', 'webhook:x:1', 'A1', '{}', 'PENDING', "
			 "UTC_TIMESTAMP(3) - INTERVAL 31 MINUTE, "
			 "UTC_TIMESTAMP(3) + INTERVAL 9 MINUTE);"
			 "INSERT INTO t_alert (kind, ref, severity, labels, annotations, fired_at, "
			 "delivery_state) VALUES ('TASK_DEAD', '1', 'critical', '{}', '{}', "
			 "UTC_TIMESTAMP(3) - INTERVAL 11 MINUTE, 'FAILED'), ('TASK_DEAD', '2', "
			 "'critical', '{}', '{}', UTC_TIMESTAMP(3), 'PENDING')");
	struct json *root = read_status(&status);
	ck_assert_int_eq(status, EXIT_STATUS_FAILED);
	ck_assert_int_eq(number(root, "refund_dead"), 1);
	ck_assert_str_eq(level(root, "refund_dead"), "red");
	ck_assert_int_eq(number(root, "webhook_pending"), 1);
	ck_assert_str_eq(level(root, "webhook_pending"), "green");
	/* As the metrics have it: since created, dead since it died; given up is undelivered. */
	ck_assert_int_eq(number(root, "tasks_pending_oldest_ms") / 60000, 31);
	ck_assert_str_eq(level(root, "tasks_pending_oldest_ms"), "red");
	ck_assert_int_eq(number(root, "tasks_dead_oldest_ms") / 60000, 2);
	ck_assert_int_eq(number(root, "alerts_firing"), 2);
	ck_assert_int_eq(number(root, "alerts_undelivered"), 2);
	ck_assert_int_eq(number(root, "alerts_undelivered_oldest_ms") / 60000, 11);
	ck_assert_str_eq(level(root, "alerts_undelivered"), "red");
	ck_assert_int_eq(number(root, "alerts_failed"), 1);
	json_destroy(&root);
}
END_TEST

START_TEST(a_broker_that_cannot_be_asked_gives_no_numbers)
{
	int status = 0;

	sandbox_set(
		sandbox, "LAPSE_AMQP_URL", "amqp://lapse:x@127.0.0.1:%u/x", sandbox_free_port());
	struct json *root = read_status(&status);
	int64_t value = 0;
	ck_assert_int_eq(status, EXIT_STATUS_FAILED);
	ck_assert(!json_get_int(root, "queue_due_ready", &value));
	ck_assert(!json_get_int(root, "queue_due_consumers", &value));
	ck_assert_str_eq(level(root, "broker"), "red");
	json_destroy(&root);

	sandbox_unset(sandbox, "LAPSE_AMQP_URL");
	root = read_status(&status);
	ck_assert_int_eq(status, EXIT_STATUS_OK);
	ck_assert(!json_get_int(root, "queue_due_ready", &value));
	ck_assert_str_eq(level(root, "broker"), "green");
	json_destroy(&root);
}
END_TEST

START_TEST(a_due_queue_without_consumers_is_red_unless_nothing_is_sent)
{
	struct rabbit *rabbit = sandbox_rabbit(sandbox);
	int status = 0;

	rabbit_declare_queue(rabbit, "lapse.timeout.due");
	rabbit_declare_queue(rabbit, "lapse.parked");
	rabbit_publish_order(rabbit, "lapse.timeout.due", "A1");
	rabbit_publish_order(rabbit, "lapse.parked", "A2");
	struct json *root = read_status(&status);
	ck_assert_int_eq(status, EXIT_STATUS_FAILED);
	ck_assert_int_eq(number(root, "queue_due_ready"), 1);
	ck_assert_int_eq(number(root, "queue_due_consumers"), 0);
	ck_assert_str_eq(level(root, "queue_due_consumers"), "red");
	ck_assert_int_eq(number(root, "queue_parked_ready"), 1);
	ck_assert_str_eq(level(root, "queue_parked_ready"), "yellow");
	json_destroy(&root);

	sandbox_set(sandbox, "LAPSE_DELAY", "%s", "none");
	root = read_status(&status);
	ck_assert_int_eq(status, EXIT_STATUS_OK);
	json_destroy(&root);
}
END_TEST

START_TEST(an_old_schema_is_red_and_shows_nothing_else)
{
	int status = 0;
	int64_t value = 0;

	query_run(sandbox_query(sandbox), "DELETE FROM t_schema_version WHERE version > 3");
	struct json *root = read_status(&status);
	ck_assert_int_eq(status, EXIT_STATUS_FAILED);
	ck_assert_int_eq(number(root, "schema_version"), 3);
	ck_assert_str_eq(json_get_text(root, "level"), "red");
	ck_assert(!json_get_int(root, "orders_waiting", &value));
	json_destroy(&root);
}
END_TEST

int main(void)
{
	static const struct runner_fixture fixture = { set_up, tear_down };
	const TTest *const tests[] = {
		orders_that_are_overdue_are_counted_and_the_oldest_is_told,
		lateness_is_the_nearest_rank_of_the_last_hour,
		a_dead_task_and_an_undelivered_alert_are_red,
		a_broker_that_cannot_be_asked_gives_no_numbers,
		a_due_queue_without_consumers_is_red_unless_nothing_is_sent,
		an_old_schema_is_red_and_shows_nothing_else,
	};

	sandbox_need_servers();
	return runner_run_with("status", &fixture, tests, ARRAY_LENGTH(tests));
}
