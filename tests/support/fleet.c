#include "tests/support/fleet.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include <check.h>

#include "common/base/memory.h"
#include "common/base/text.h"
#include "tests/support/http_client.h"
#include "tests/support/http_stub.h"
#include "tests/support/orders.h"
#include "tests/support/process.h"
#include "tests/support/query.h"
#include "tests/support/rabbit.h"
#include "tests/support/sandbox.h"
#include "tests/support/wait_until.h"

enum {
	SETTLE_LIMIT_MS = 150000,
	STOP_LIMIT_MS = 30000,
	PROBE_LIMIT_MS = 5000,
	PROCESSES_MAX = 64,
	CALLS_MAX = 1 + 5
};

struct fleet {
	struct sandbox *sandbox;
	struct http_stub *stub;
	struct process *processes[PROCESSES_MAX];
	size_t process_count;
	struct process *latest[FLEET_MEMBERS];
};

#define DUE_QUEUE "lapse.timeout.due"

static const char *const programs[FLEET_MEMBERS] = { "lapse-producer", "lapse-consumer",
	"lapse-sweeper", "lapse-retry" };

/* A producer's lease is longer than waiting for confirms can take; a task's may be short. */
static const char *const leases[FLEET_MEMBERS] = { "15s", "15s", "15s", "3s" };

void fleet_create(struct fleet **fleet_out)
{
	struct fleet *fleet = memory_allocate(sizeof(*fleet));

	*fleet_out = fleet;
	sandbox_create(SANDBOX_EVERYTHING, &fleet->sandbox);
	fleet->stub = sandbox_stub(fleet->sandbox);
	sandbox_set(fleet->sandbox, "LAPSE_SWEEP_INTERVAL", "%dms", FLEET_SWEEP_MS);
	sandbox_set(fleet->sandbox, "LAPSE_HTTP_TIMEOUT", "1s");
	sandbox_set(fleet->sandbox, "LAPSE_RETRY_BASE", "100ms");
	sandbox_set(fleet->sandbox, "LAPSE_RETRY_CAP", "1s");
	sandbox_set(fleet->sandbox, "LAPSE_LOCK_WAIT", "1s");
}

void fleet_destroy(struct fleet **fleet)
{
	if (*fleet == NULL)
		return;
	sandbox_destroy(&(*fleet)->sandbox);
	free(*fleet);
	*fleet = NULL;
}

struct sandbox *fleet_sandbox(const struct fleet *fleet)
{
	return fleet->sandbox;
}

struct query *fleet_query(const struct fleet *fleet)
{
	return sandbox_query(fleet->sandbox);
}

struct http_stub *fleet_stub(const struct fleet *fleet)
{
	return fleet->stub;
}

static struct process *start_member(
	struct fleet *fleet, enum fleet_member member, const char *failpoint)
{
	struct process *process = NULL;

	/* The port is the kernel's choice, so that no two can want the same. */
	sandbox_set(fleet->sandbox, "LAPSE_OPS_ADDR", "127.0.0.1:0");
	sandbox_set(fleet->sandbox, "LAPSE_LOG_FORMAT", "json");
	sandbox_set(fleet->sandbox, "LAPSE_LEASE", "%s", leases[member]);
	process = failpoint == NULL ? sandbox_start(fleet->sandbox, programs[member], NULL)
				    : sandbox_start_with_failpoint(
					      fleet->sandbox, programs[member], failpoint);
	fleet->latest[member] = process;
	return process;
}

static struct process *keep(struct fleet *fleet, struct process *process)
{
	ck_assert_uint_lt(fleet->process_count, PROCESSES_MAX);
	fleet->processes[fleet->process_count++] = process;
	return process;
}

struct process *fleet_start_one(struct fleet *fleet, enum fleet_member member)
{
	return keep(fleet, start_member(fleet, member, NULL));
}

struct process *fleet_stop_one(struct fleet *fleet, enum fleet_member member, const char *failpoint)
{
	struct process *process = keep(fleet, start_member(fleet, member, failpoint));

	WAIT_UNTIL(process_is_stopped, process);
	return process;
}

void fleet_start(struct fleet *fleet)
{
	for (int member = 0; member < FLEET_MEMBERS; member++)
		(void)fleet_start_one(fleet, (enum fleet_member)member);
}

void fleet_kill_one(struct fleet *fleet, struct process *process)
{
	for (size_t i = 0; i < fleet->process_count; i++)
		if (fleet->processes[i] == process)
			fleet->processes[i] = fleet->processes[--fleet->process_count];
	for (size_t i = 0; i < FLEET_MEMBERS; i++)
		if (fleet->latest[i] == process)
			fleet->latest[i] = NULL;
	sandbox_kill(fleet->sandbox, process);
}

void fleet_lose_one(struct fleet *fleet, enum fleet_member member, const char *failpoint)
{
	struct process *process = start_member(fleet, member, failpoint);
	int status = process_wait(process, WAIT_LIMIT_MS);
	char *errors = process_errors(process);

	ck_assert_msg(status == 128 + SIGKILL, "%s at %s: status %d\n%s", programs[member],
		failpoint, status, errors);
	free(errors);
	fleet_kill_one(fleet, process);
}

/* The start line of the log names the port. */
static uint16_t read_ops_port(const struct process *process)
{
	static const char words[] = "\"ops_port\":";
	char *errors = process_errors(process);
	const char *place = strstr(errors, words);
	uint16_t port = place == NULL ? 0 : (uint16_t)strtoul(place + strlen(words), NULL, 10);

	free(errors);
	return port;
}

static bool has_ops_port(void *process)
{
	return read_ops_port(process) != 0;
}

uint16_t fleet_ops_port(const struct fleet *fleet, enum fleet_member member)
{
	struct process *process = fleet->latest[member];

	ck_assert_msg(process != NULL, "%s was not started", programs[member]);
	ck_assert_msg(wait_until(has_ops_port, process, WAIT_LIMIT_MS), "%s opens no ops port",
		programs[member]);
	return read_ops_port(process);
}

static bool is_ready(void *context)
{
	const uint16_t *port = context;

	return http_client_get(*port, "/readyz", PROBE_LIMIT_MS, NULL) == 200;
}

static bool is_unready(void *context)
{
	const uint16_t *port = context;

	return http_client_get(*port, "/readyz", PROBE_LIMIT_MS, NULL) == 503;
}

void fleet_await_ready(const struct fleet *fleet, enum fleet_member member, bool wants_ready)
{
	uint16_t port = fleet_ops_port(fleet, member);

	ck_assert_msg(wait_until(wants_ready ? is_ready : is_unready, &port, WAIT_LIMIT_MS),
		"%s does not become %s", programs[member], wants_ready ? "ready" : "unready");
}

void fleet_feed(struct fleet *fleet, const char *prefix, uint32_t count, int64_t due_in_ms,
	uint32_t spread_ms)
{
	const struct orders_plan plan = {
		.prefix = prefix, .count = count, .due_in_ms = due_in_ms, .spread_ms = spread_ms
	};

	orders_insert_many(fleet_query(fleet), &plan);
}

int64_t fleet_count_closed(const struct fleet *fleet, const char *prefix, const char *source)
{
	return query_number(fleet_query(fleet),
		"SELECT COUNT(*) FROM t_order WHERE status = 'CLOSED' AND order_no LIKE '%s%%' "
		"AND close_source LIKE '%s'",
		prefix, source);
}

/* What keeps the fleet busy, in one number; a server that is away counts as well. */
static int64_t count_unsettled(struct query *query)
{
	return query_number(query,
		"SELECT (SELECT COUNT(*) FROM t_order WHERE status = 'UNPAID' "
		"AND expire_time IS NOT NULL) + (SELECT COUNT(*) FROM t_outbox_event "
		"WHERE status = 'NEW') + (SELECT COUNT(*) FROM t_compensation "
		"WHERE status IN ('PENDING', 'RUNNING'))");
}

static bool is_settled(void *context)
{
	const struct fleet *fleet = context;

	return count_unsettled(fleet_query(fleet)) == 0;
}

static void describe(struct query *query, char text[QUERY_TEXT_SIZE])
{
	query_text(query, text,
		"SELECT CONCAT_WS(' ', 'unpaid', (SELECT COUNT(*) FROM t_order "
		"WHERE status = 'UNPAID'), 'new', (SELECT COUNT(*) FROM t_outbox_event "
		"WHERE status = 'NEW'), 'pending', (SELECT COUNT(*) FROM t_compensation "
		"WHERE status = 'PENDING'), 'running', (SELECT COUNT(*) FROM t_compensation "
		"WHERE status = 'RUNNING'), 'error', (SELECT MAX(last_error) FROM t_compensation), "
		"'outbox error', (SELECT MAX(last_error) FROM t_outbox_event))");
}

void fleet_settle(struct fleet *fleet)
{
	char text[QUERY_TEXT_SIZE];

	if (wait_until(is_settled, fleet, SETTLE_LIMIT_MS))
		return;
	describe(fleet_query(fleet), text);
	ck_abort_msg("does not settle: %s", text);
}

static void check_processes(struct fleet *fleet)
{
	sandbox_expect_all_alive(fleet->sandbox);
#ifndef TEST_SANITIZED
	for (size_t i = 0; i < fleet->process_count; i++)
		ck_assert_uint_le(
			process_resident_kib(fleet->processes[i]), FLEET_RESIDENT_MAX_KIB);
#endif
}

static void check_with_verify(struct fleet *fleet)
{
	static const char *const words[] = { "verify", "--no-color", NULL };
	char *output = NULL;

	sandbox_set(fleet->sandbox, "LAPSE_LEASE", "15s");
	int status = sandbox_run(fleet->sandbox, "lapsectl", words, &output);
	ck_assert_msg(status == 0, "lapsectl verify: status %d\n%s", status, output);
	free(output);
}

/* The same by SQL of our own: verify may be wrong too. */
static void check_rows(struct fleet *fleet, const struct fleet_expectation *expectation)
{
	struct query *query = fleet_query(fleet);
	char text[QUERY_TEXT_SIZE];

	ck_assert_int_eq(
		query_number(query, "SELECT COUNT(*) FROM t_order o WHERE status = 'CLOSED' "
				    "AND (SELECT COUNT(*) FROM t_outbox_event e "
				    "WHERE e.order_no = o.order_no "
				    "AND e.event_type = 'ORDER_CLOSED') <> 1"),
		0);
	query_text(query, text,
		"SELECT (SELECT COUNT(*) FROM t_order_item i JOIN t_order o ON o.id = i.order_id "
		"WHERE o.status = 'CLOSED' AND i.quantity > 0) - (SELECT COUNT(*) "
		"FROM t_compensation WHERE kind = 'STOCK_RESTORE'), "
		"(SELECT COUNT(*) FROM t_outbox_event WHERE event_type = 'ORDER_CLOSED') - "
		"(SELECT COUNT(*) FROM t_order WHERE status = 'CLOSED'), "
		"(SELECT COUNT(*) FROM t_order WHERE status = 'CLOSED' "
		"AND close_reason = 'TIMEOUT' AND close_time < expire_time), "
		"(SELECT COUNT(*) FROM t_order WHERE status = 'PAID' AND pay_time >= expire_time), "
		"(SELECT COUNT(*) FROM t_compensation WHERE calls > max_retries + 1), "
		"(SELECT COUNT(*) FROM t_outbox_event WHERE status = 'FAILED')");
	ck_assert_str_eq(text, "0 0 0 0 0 0");
	ck_assert_int_eq(
		query_number(query, "SELECT COUNT(*) FROM t_compensation WHERE status = 'DEAD'"),
		expectation->dead);
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_alert "
					     "WHERE kind = 'TASK_DEAD' AND state = 'FIRING'"),
		expectation->dead);
	if (expectation->latest_ms != FLEET_ANY_LATENESS)
		ck_assert_int_le(query_number(query, "SELECT MAX(TIMESTAMPDIFF(MICROSECOND, "
						     "expire_time, close_time)) DIV 1000 "
						     "FROM t_order WHERE status = 'CLOSED'"),
			expectation->latest_ms);
}

/* The stock equation: what was given back is what closed orders had taken, SKU by SKU. */
static void check_stub(struct fleet *fleet, const struct fleet_expectation *expectation)
{
	struct query *query = fleet_query(fleet);
	char strange[HTTP_STUB_TEXT_SIZE];
	uint64_t done = (uint64_t)query_number(query,
		"SELECT COUNT(*) FROM t_compensation WHERE kind = 'STOCK_RESTORE' AND "
		"status = 'DONE'");
	uint64_t owed = (uint64_t)query_number(query,
		"SELECT SUM(JSON_EXTRACT(payload, '$.quantity')) FROM t_compensation "
		"WHERE kind = 'STOCK_RESTORE' AND status = 'DONE'");

	ck_assert_msg(http_stub_count_strange(fleet->stub, strange) == 0, "%s", strange);
	ck_assert_uint_eq(http_stub_count_changed(fleet->stub), 0);
	ck_assert_uint_le(http_stub_most_calls(fleet->stub),
		expectation->calls == 0 ? CALLS_MAX : expectation->calls);
	ck_assert_uint_ge(http_stub_count_effects(fleet->stub), done);
	if (http_stub_count_effects(fleet->stub) == done)
		ck_assert_uint_eq(http_stub_sum_effects(fleet->stub, ""), owed);
}

static void check_sku(struct fleet *fleet, const char *sku_id)
{
	uint64_t owed = (uint64_t)query_number(fleet_query(fleet),
		"SELECT SUM(i.quantity) FROM t_order_item i JOIN t_order o ON o.id = i.order_id "
		"WHERE o.status = 'CLOSED' AND i.sku_id = '%s'",
		sku_id);

	ck_assert_uint_eq(http_stub_sum_effects(fleet->stub, sku_id), owed);
}

static void check_stock(struct fleet *fleet)
{
	char text[QUERY_TEXT_SIZE];
	char *rest = text;

	query_text(fleet_query(fleet), text,
		"SELECT GROUP_CONCAT(DISTINCT sku_id SEPARATOR ' ') FROM t_order_item "
		"WHERE quantity > 0");
	while (*rest != '\0') {
		size_t length = strcspn(rest, " ");
		bool is_last = rest[length] == '\0';

		rest[length] = '\0';
		check_sku(fleet, rest);
		rest += length + (is_last ? 0 : 1);
	}
}

static bool is_due_queue_empty(void *context)
{
	const struct fleet *fleet = context;

	return rabbit_count(sandbox_rabbit(fleet->sandbox), DUE_QUEUE) == 0;
}

/*
 * What was unacked is ready again once the daemons have gone.  A message that was armed again, as
 * its order was locked for a moment, may come behind them; its order is final then.
 */
static void check_queues(struct fleet *fleet, const struct fleet_expectation *expectation)
{
	struct rabbit *rabbit = sandbox_rabbit(fleet->sandbox);
	struct rabbit_delivery delivery;

	while (rabbit_get(rabbit, DUE_QUEUE, &delivery)) {
		ck_assert_int_eq(query_number(fleet_query(fleet),
					 "SELECT COUNT(*) FROM t_order WHERE status <> 'UNPAID' "
					 "AND '%s' LIKE CONCAT('%%\"', order_no, '\"%%')",
					 delivery.body),
			1);
	}
	ck_assert_int_eq(rabbit_count(rabbit, "lapse.parked"), expectation->parked);
}

void fleet_check(struct fleet *fleet, const struct fleet_expectation *expectation)
{
	fleet_settle(fleet);
	check_processes(fleet);
	check_with_verify(fleet);
	check_rows(fleet, expectation);
	check_stub(fleet, expectation);
	if (expectation->dead == 0)
		check_stock(fleet);
	WAIT_UNTIL(is_due_queue_empty, fleet);
	sandbox_stop_all(fleet->sandbox, STOP_LIMIT_MS);
	check_queues(fleet, expectation);
}
