/* Both servers over TLS: reached when the right authority vouches for them, else refused. */
#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/io/broker.h"
#include "common/io/db.h"
#include "tests/support/connection.h"
#include "tests/support/daemon.h"
#include "tests/support/orders.h"
#include "tests/support/query.h"
#include "tests/support/rabbit.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"
#include "tests/support/stack.h"
#include "tests/support/wait_until.h"

#define DUE_QUEUE "lapse.timeout.due"

enum {
	BODY_SIZE = 1000000, /* many records of TLS */
	ROUNDS = 3,
	ORDERS = 200,
	STOP_LIMIT_MS = 30000,
};

static const char system_ca_file[] = "/etc/ssl/certs/ca-certificates.crt";

static struct sandbox *sandbox;
static struct query *query;
static struct error error;

static void set_up(void)
{
	sandbox_create(SANDBOX_EVERYTHING, &sandbox);
	query = sandbox_query(sandbox);
}

static void tear_down(void)
{
	sandbox_destroy(&sandbox);
}

/* ---- the broker */

START_TEST(large_messages_go_through_tls_and_come_back_whole)
{
	char url[STACK_URL_SIZE];
	char *body = memory_allocate(BODY_SIZE);
	struct connection *line = NULL;

	memset(body, 'x', BODY_SIZE);
	stack_format_amqps_url(url, sandbox_name(sandbox), stack_ca_file());
	rabbit_declare_queue(sandbox_rabbit(sandbox), "q");
	connection_create(url, &line);
	connection_expect(line, broker_consume(line->broker, "q", 10, &line->error), RESULT_OK);
	for (int i = 0; i < ROUNDS; i++) {
		connection_publish(line, "", "q", body, BODY_SIZE);
		connection_expect_event(line, BROKER_EVENT_DELIVERY);
		ck_assert_uint_eq(line->event.delivery.body_size, BODY_SIZE);
		ck_assert_int_eq(memcmp(line->event.delivery.body, body, BODY_SIZE), 0);
	}
	connection_destroy(&line);
	free(body);
}
END_TEST

START_TEST(a_broker_nobody_vouches_for_is_refused)
{
	char url[STACK_URL_SIZE];
	struct broker *broker = NULL;

	stack_format_amqps_url(url, sandbox_name(sandbox), system_ca_file);
	struct broker_settings settings = { .url = url, .heartbeat_ms = 2000 };
	broker_create(&settings, "stranger", &broker);
	ck_assert_int_ne(broker_ensure_connected(broker, &error), RESULT_OK);
	ck_assert(!broker_is_connected(broker));
	ck_assert_msg(strstr(error.text, "cert") != NULL, "%s", error.text);
	broker_destroy(&broker);
}
END_TEST

/* ---- the database */

static enum result connect_mysql(const char *options, struct db **db_out)
{
	static char url[STACK_URL_SIZE];
	static struct db_settings settings = { .url = url, .lock_wait_ms = 1000 };
	const char *plain = sandbox_mysql_url(sandbox);

	ck_assert(
		text_format(url, sizeof(url), "%.*s?%s", (int)strcspn(plain, "?"), plain, options));
	db_create(&settings, db_out);
	return db_ensure_connected(*db_out, &error);
}

static void expect_encrypted(struct db *db, bool is_expected)
{
	struct db_rows *rows = NULL;
	enum result result =
		db_query(db, "SHOW SESSION STATUS LIKE 'Ssl_cipher'", NULL, 0, &rows, &error);

	ck_assert_msg(result == RESULT_OK, "%s", error.text);
	ck_assert(db_rows_next(rows));
	ck_assert((db_rows_text(rows, 1, NULL)[0] != '\0') == is_expected);
	db_rows_destroy(&rows);
}

START_TEST(mysql_is_reached_over_tls_when_it_is_asked_for)
{
	char options[STACK_URL_SIZE];
	struct db *db = NULL;

	(void)text_format(options, sizeof(options), "tls=verify&ca=%s", stack_ca_file());
	const char *const words[] = { options, "tls=require", "tls=off" };
	for (size_t i = 0; i < ARRAY_LENGTH(words); i++) {
		enum result result = connect_mysql(words[i], &db);

		ck_assert_msg(result == RESULT_OK, "%s: %s", words[i], error.text);
		expect_encrypted(db, !text_equals(words[i], "tls=off"));
		db_destroy(&db);
	}
}
END_TEST

START_TEST(a_mysql_nobody_vouches_for_is_refused)
{
	char options[STACK_URL_SIZE];
	struct db *db = NULL;

	(void)text_format(options, sizeof(options), "tls=verify&ca=%s", system_ca_file);
	ck_assert_int_eq(connect_mysql(options, &db), RESULT_TEMPORARY);
	db_destroy(&db);
	/* Without a file the system's own set is asked. */
	ck_assert_int_eq(connect_mysql("tls=verify", &db), RESULT_TEMPORARY);
	db_destroy(&db);
}
END_TEST

/* ---- a daemon */

static bool has_a_consumer(void *context)
{
	(void)context;
	return rabbit_count_consumers(sandbox_rabbit(sandbox), DUE_QUEUE) == 1;
}

/* The next write on a line that was closed must not be the end of the process. */
START_TEST(lines_that_are_closed_under_tls_stop_no_daemon)
{
	const char *const words[] = { "close-connections", sandbox_name(sandbox), NULL };
	const char *plain = sandbox_mysql_url(sandbox);
	char url[STACK_URL_SIZE];
	char prefix[] = "T0-";
	struct daemon consumer;

	stack_format_amqps_url(url, sandbox_name(sandbox), stack_ca_file());
	sandbox_set(sandbox, "LAPSE_AMQP_URL", "%s", url);
	sandbox_set(sandbox, "LAPSE_MYSQL_URL", "%.*s?tls=verify&ca=%s", (int)strcspn(plain, "?"),
		plain, stack_ca_file());
	sandbox_set(sandbox, "LAPSE_CLOSE_BATCH", "20");
	daemon_start_ready(sandbox, "lapse-consumer", &consumer);
	for (int i = 0; i < ROUNDS; i++) {
		prefix[1] = (char)('0' + i);
		const struct orders_plan plan = {
			.prefix = prefix, .count = ORDERS, .due_in_ms = -1000, .has_no_events = true
		};

		orders_insert_many(query, &plan);
		daemon_flood(sandbox, DUE_QUEUE, prefix, ORDERS);
		stack_command(words);
		WAIT_UNTIL(orders_are_all_final, query);
		WAIT_UNTIL(has_a_consumer, NULL);
	}
	WAIT_UNTIL(daemon_is_ready, &consumer);
	daemon_expect_well(&consumer);
	daemon_stop(&consumer, STOP_LIMIT_MS);
}
END_TEST

int main(void)
{
	const struct runner_fixture fixture = { set_up, tear_down };
	const TTest *const tests[] = {
		large_messages_go_through_tls_and_come_back_whole,
		a_broker_nobody_vouches_for_is_refused,
		mysql_is_reached_over_tls_when_it_is_asked_for,
		a_mysql_nobody_vouches_for_is_refused,
		lines_that_are_closed_under_tls_stop_no_daemon,
	};

	sandbox_need_servers();
	return runner_run_with("tls", &fixture, tests, ARRAY_LENGTH(tests));
}
