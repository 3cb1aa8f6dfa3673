/* lapse-console stays small while several people ask for every page and file of a full database. */
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "common/base/memory.h"
#include "common/base/text.h"
#include "tests/support/console.h"
#include "tests/support/process.h"
#include "tests/support/query.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"
#include "tests/support/shared.h"

enum {
	RESIDENT_MAX_KIB = 16 * 1024,
	ROWS = 20000,
	RULES = 300,
	CLIENTS = 6,
	ROUNDS = 8,
	EXPORT_ROUNDS = 1,
	WORDS_SIZE = 512,
};

static struct sandbox *sandbox;
static struct query *query;
static struct console_run console;

static const char *const pages[] = { "/", "/tasks", "/tasks?limit=200", "/tasks/1", "/orders",
	"/orders?limit=200", "/orders/FULL-NUMBER-77", "/outbox?state=SENT&limit=200", "/outbox/1",
	"/payments?limit=200", "/payments/1", "/parked", "/queues", "/rules?limit=200", "/rules/1",
	"/rules/test", "/alerts?limit=200", "/alerts/1", "/audit?limit=200", "/audit/1", "/fleet",
	"/about", "/tasks/1/requeue", "/tasks/1/resolve", "/tasks/bulk?order=FULL-NUMBER-77",
	"/api/v1/tasks?limit=200", "/api/v1/orders?limit=200", "/api/v1/audit?limit=200",
	"/console.css" };
static const char *const files[] = { "/tasks/export?format=csv", "/tasks/export?format=jsonl",
	"/orders/export?format=csv", "/outbox/export?format=jsonl&state=SENT",
	"/payments/export?format=csv", "/alerts/export?format=jsonl", "/audit/export?format=csv",
	"/audit/export?format=jsonl" };

/* What the clients have seen. */
struct report {
	atomic_uint answers;
	atomic_uint strange;
	char words[WORDS_SIZE];
};

struct client {
	struct report *report;
	const char *person;
	const char *const *paths;
	size_t path_count;
	unsigned int rounds;
};

static void set_up(void)
{
	sandbox_create(SANDBOX_EVERYTHING, &sandbox);
	query = sandbox_query(sandbox);
}

static void tear_down(void)
{
	sandbox_destroy(&sandbox);
}

/* Texts as long as they come. */
static void fill(void)
{
	query_run(query,
		"INSERT INTO t_order (order_no, user_id, amount_cents, expire_time, status, "
		"close_time, close_reason, close_source) SELECT CONCAT('FULL-NUMBER-', seq), 4711, "
		"9900, UTC_TIMESTAMP(3) - INTERVAL seq SECOND, 'CLOSED', UTC_TIMESTAMP(3) - "
		"INTERVAL seq SECOND, 'TIMEOUT', 'message' FROM seq_1_to_%d;"
		"INSERT INTO t_order_item (order_id, sku_id, quantity) SELECT id, 'SKU-1', 2 FROM "
		"t_order;"
		"INSERT INTO t_outbox_event (event_type, order_no, status, sent_at, last_error) "
		"SELECT 'ORDER_CREATED', order_no, 'SENT', UTC_TIMESTAMP(3), REPEAT('x', 200) FROM "
		"t_order;"
		"INSERT INTO t_compensation (kind, target, idempotency_key, order_no, payload, "
		"status, calls, retry_count, last_error) SELECT 'STOCK_RESTORE', 'stock', "
		"CONCAT('restore:', order_no, ':1'), order_no, '{}', 'DEAD', 6, 5, REPEAT('<e>', "
		"150) FROM t_order",
		ROWS);
	query_run(query,
		"INSERT INTO t_alert (kind, ref, severity, labels, annotations) SELECT "
		"'TASK_DEAD', id, 'warning', '{}', JSON_OBJECT('summary', REPEAT('s', 300)) FROM "
		"t_compensation;"
		"INSERT INTO t_payment (channel, trade_no, order_no, amount_cents, currency, "
		"outcome, refund_state) SELECT 'pay', CONCAT('T', id), order_no, 9900, 'CNY', "
		"'LATE', 'PENDING' FROM t_order;"
		"INSERT INTO t_operator_audit (actor, role, auth, ip, request_id, action, "
		"target_type, target_id, reason_text, before_json, after_json, result) SELECT "
		"'olga', 'operator', 'basic', '127.0.0.1', CONCAT('r', id), 'requeue', 'task', id, "
		"REPEAT('r', 400), JSON_OBJECT('a', REPEAT('b', 300)), JSON_OBJECT('a', "
		"REPEAT('b', 300)), 'ok' FROM t_compensation;"
		"INSERT INTO t_timeout_rule (tenant, channel, timeout_seconds) SELECT CONCAT('t', "
		"seq), 'app', 900 FROM seq_1_to_%d",
		RULES);
}

/* In a process of its own. */
static void ask_for_all(void *context)
{
	const struct client *client = context;
	struct console_run own = console;

	api_client_create(console.port, &own.client);
	for (size_t i = 0; i < client->rounds * client->path_count; i++) {
		const char *path = client->paths[i % client->path_count];
		const struct api_answer *answer = console_get(&own, client->person, path);

		atomic_fetch_add(&client->report->answers, 1);
		if (answer->status != 200 && atomic_fetch_add(&client->report->strange, 1) == 0)
			(void)text_format(client->report->words, WORDS_SIZE, "%s: %u %.300s", path,
				answer->status, answer->body);
	}
	api_client_destroy(&own.client);
}

/* Several clients at the same time. */
static void ask_with(const char *const *paths, size_t path_count, unsigned int rounds)
{
	static const char *const people[] = { "olga", "otto", "anna" };
	struct report *report = shared_create(sizeof(*report));
	pid_t children[CLIENTS];

	for (size_t i = 0; i < CLIENTS; i++) {
		struct client client = { report, people[i % ARRAY_LENGTH(people)], paths,
			path_count, rounds };

		children[i] = shared_fork(ask_for_all, &client);
	}
	for (size_t i = 0; i < CLIENTS; i++)
		(void)waitpid(children[i], NULL, 0);
	ck_assert_msg(atomic_load(&report->strange) == 0, "%s", report->words);
	ck_assert_uint_eq(atomic_load(&report->answers), CLIENTS * path_count * rounds);
	shared_destroy(report, sizeof(*report));
}

/* Also in between: an export under way is no larger than a page.  Passwords are of SHA-512 here;
 * yescrypt takes 16 MiB more for a blink, on purpose. */
START_TEST(a_console_stays_small)
{
	console_start(&console, sandbox);
	fill();
	ask_with(pages, ARRAY_LENGTH(pages), 1);
	ask_with(files, ARRAY_LENGTH(files), EXPORT_ROUNDS);
	ask_with(pages, ARRAY_LENGTH(pages), ROUNDS);
	ck_assert_uint_gt(process_peak_kib(console.process), 0);
	ck_assert_uint_le(process_peak_kib(console.process), RESIDENT_MAX_KIB);
	console_leave(&console);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = { a_console_stays_small };
	const struct runner_fixture fixture = { set_up, tear_down };

	sandbox_need_servers();
	return runner_run_with("console_memory", &fixture, tests, ARRAY_LENGTH(tests));
}
