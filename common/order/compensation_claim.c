#include "common/order/compensation_claim.h"

#include <assert.h>
#include <stdlib.h>

#include "common/base/clock.h"
#include "common/base/failpoint.h"
#include "common/base/memory.h"
#include "common/io/db.h"
#include "common/order/compensation_internal.h"
#include "common/order/id_list.h"

/*
 * A session that checks no constraints can write a row that no statement can change afterwards; one
 * of them among the chosen would keep all others from their calls.
 */
#define IS_SOUND(t)                                                  \
	"JSON_VALID(" t ".payload) AND " t ".idempotency_key <> '' " \
	"AND " t ".idempotency_key NOT REGEXP '[^A-Za-z0-9._:-]' "

/* A payload over COMPENSATION_PAYLOAD_MAX is not even read: nobody knows how long it is. */
#define CHOICE                                                                    \
	"SELECT id, kind, idempotency_key, order_no, "                            \
	"IF(LENGTH(payload) > 65536, NULL, payload), status = 'RUNNING', calls, " \
	"retry_count, max_retries, "                                              \
	"CAST(UNIX_TIMESTAMP(UTC_TIMESTAMP(3)) * 1000 AS SIGNED) "                \
	"FROM t_compensation t FORCE INDEX (idx_status_next) "                    \
	"WHERE target = ? AND next_retry_at <= UTC_TIMESTAMP(3) AND " IS_SOUND("t") "AND "

static_assert(COMPENSATION_PAYLOAD_MAX == 65536, "the choice knows this number too");

/* Locks nothing, so that a process that finds nothing holds no lock that others would skip. */
static const char look_sql[] = "SELECT 1 FROM t_compensation FORCE INDEX (idx_status_next) "
			       "WHERE target = ? AND next_retry_at <= UTC_TIMESTAMP(3) "
			       "AND status IN ('PENDING', 'RUNNING') LIMIT 1";
static const char choose_ended_sql[] =
	CHOICE "status = 'RUNNING' AND (lease_until IS NULL OR lease_until <= UTC_TIMESTAMP(3)) "
	       "ORDER BY next_retry_at LIMIT ? FOR UPDATE SKIP LOCKED";
static const char choose_due_sql[] =
	CHOICE "status = 'PENDING' ORDER BY next_retry_at LIMIT ? FOR UPDATE SKIP LOCKED";
/* What the rows inside say is read without a lock: one that is being claimed is still open. */
static const char choose_due_in_order_sql[] =
	CHOICE "status = 'PENDING' AND NOT EXISTS (SELECT 1 FROM t_compensation o "
	       "FORCE INDEX (idx_order_no) WHERE o.order_no = t.order_no AND o.id < t.id "
	       "AND o.target = t.target AND o.status IN ('PENDING', 'RUNNING') "
	       "AND " IS_SOUND("o") ") "
				    "ORDER BY next_retry_at, id LIMIT ? FOR UPDATE SKIP LOCKED";

struct claim {
	struct db *db;
	const struct compensation_claim_limits *limits;
	struct compensation_list *list;
	char lease_token[ULID_SIZE];
};

/* False: '' stands in the column, as a session that is not strict writes it. */
static bool find_kind(const char *name, enum compensation_kind *kind_out)
{
	size_t place = text_find(compensation_kind_names, name);

	if (place < COMPENSATION_KIND_COUNT)
		*kind_out = (enum compensation_kind)place;
	return place < COMPENSATION_KIND_COUNT;
}

static void end_uncalled(struct compensation_task *task, const char *reason)
{
	task->is_dead = true;
	compensation_set_error(task, reason);
}

static uint32_t read_count(const struct db_rows *rows, size_t column)
{
	uint64_t value = db_rows_uint(rows, column);

	return value < UINT32_MAX ? (uint32_t)value : UINT32_MAX - 1;
}

/* A call whose lease has ended was a call too: nobody knows what became of it. */
static void count_call(struct compensation_task *task, bool was_running, uint32_t retry_max)
{
	uint32_t less = COMPENSATION_RETRY_MAX - retry_max;

	task->max_retries = task->max_retries > less ? task->max_retries - less : 0;
	if (was_running || task->calls > 0 || task->retry_count > 0)
		task->retry_count++;
	task->calls++;
	if (task->retry_count <= task->max_retries)
		return;
	task->retry_count--;
	task->calls--;
	end_uncalled(
		task, was_running ? "the lease ended during the last call" : "no call is left");
}

static void read_task(struct claim *claim, const struct db_rows *rows, const char *target,
	struct compensation_task *task)
{
	task->id = db_rows_uint(rows, 0);
	(void)text_copy(task->target, sizeof(task->target), target);
	(void)text_copy(
		task->idempotency_key, sizeof(task->idempotency_key), db_rows_text(rows, 2, NULL));
	(void)text_copy(task->order_no, sizeof(task->order_no), db_rows_text(rows, 3, NULL));
	(void)text_copy(task->lease_token, sizeof(task->lease_token), claim->lease_token);
	if (!db_rows_is_null(rows, 4)) {
		const char *payload = db_rows_text(rows, 4, &task->payload_size);

		task->payload = memory_copy_bytes(payload, task->payload_size);
	}
	task->calls = read_count(rows, 6);
	task->retry_count = read_count(rows, 7);
	task->max_retries = read_count(rows, 8);
	if (find_kind(db_rows_text(rows, 1, NULL), &task->kind))
		count_call(task, db_rows_uint(rows, 5) != 0, claim->limits->retry_max);
	else
		end_uncalled(task, "the kind is none that Lapse knows");
}

static enum result look(struct claim *claim, struct error *error)
{
	enum result result = RESULT_NONE;

	for (size_t i = 0; i < claim->limits->wish_count && result == RESULT_NONE; i++) {
		const struct db_param target = db_text(claim->limits->wishes[i].target);
		struct db_rows *rows = NULL;

		result = db_query(claim->db, look_sql, &target, 1, &rows, error);
		db_rows_destroy(&rows);
	}
	return error_context(result, error, "look for due tasks");
}

static enum result choose(struct claim *claim, const char *sql, const char *target, uint32_t limit,
	struct error *error)
{
	const struct db_param params[] = { db_text(target), db_uint(limit) };
	struct compensation_list *list = claim->list;
	struct db_rows *rows = NULL;
	enum result result = db_query(claim->db, sql, params, ARRAY_LENGTH(params), &rows, error);

	while (result == RESULT_OK && db_rows_next(rows)) {
		read_task(claim, rows, target, &list->tasks[list->count++]);
		list->server_ahead_ms = db_rows_int(rows, 9) - (int64_t)clock_epoch_ms();
	}
	db_rows_destroy(&rows);
	return result == RESULT_NONE ? RESULT_OK : error_context(result, error, "find due tasks");
}

static enum result choose_all(struct claim *claim, struct error *error)
{
	enum result result = RESULT_OK;

	for (size_t i = 0; i < claim->limits->wish_count && result == RESULT_OK; i++) {
		const struct compensation_wish *wish = &claim->limits->wishes[i];
		size_t before = claim->list->count;

		result = choose(claim, choose_ended_sql, wish->target, wish->limit, error);
		uint32_t rest = wish->limit - (uint32_t)(claim->list->count - before);
		if (result == RESULT_OK && rest > 0)
			result = choose(claim,
				wish->keeps_order ? choose_due_in_order_sql : choose_due_sql,
				wish->target, rest, error);
	}
	if (result == RESULT_OK && claim->list->count == 0)
		return RESULT_NONE;
	return result;
}

/* The values the server computes are those that count_call has computed for us. */
static enum result lease(struct claim *claim, struct error *error)
{
	static const char head[] =
		"UPDATE t_compensation FORCE INDEX (PRIMARY) SET retry_count = "
		"IF(status = 'PENDING' AND calls = 0 AND retry_count = 0, 0, retry_count + 1), "
		"calls = LEAST(calls, 4294967294) + 1, status = 'RUNNING', lease_token = ?, "
		"lease_until = UTC_TIMESTAMP(3) + INTERVAL ? MICROSECOND, "
		"next_retry_at = UTC_TIMESTAMP(3) + INTERVAL ? MICROSECOND, "
		"updated_at = UTC_TIMESTAMP(3) WHERE id IN ";
	const struct compensation_list *list = claim->list;
	uint64_t lease_us = claim->limits->lease_ms * 1000;
	const struct db_param before[] = { db_text(claim->lease_token), db_uint(lease_us),
		db_uint(lease_us) };
	uint64_t *ids = memory_allocate_array(list->count, sizeof(*ids));
	struct id_statement statement = { .head = head,
		.tail = "",
		.before = before,
		.before_count = ARRAY_LENGTH(before),
		.ids = ids };
	uint64_t changed = 0;
	enum result result = RESULT_OK;

	for (size_t i = 0; i < list->count; i++)
		if (!list->tasks[i].is_dead)
			ids[statement.count++] = list->tasks[i].id;
	if (statement.count > 0)
		result = id_list_execute(claim->db, &statement, &changed, error);
	if (result == RESULT_OK && changed != statement.count) {
		result = error_set(RESULT_PERMANENT, error, "bug: leased rows are not the chosen");
		if (claim->limits->violations_out != NULL)
			++*claim->limits->violations_out;
	}
	free(ids);
	return error_context(result, error, "lease tasks");
}

static enum result bury_one(
	struct db *db, const struct compensation_task *task, struct error *error)
{
	static const char sql[] =
		"UPDATE t_compensation FORCE INDEX (PRIMARY) SET status = 'DEAD', "
		"lease_token = NULL, lease_until = NULL, next_retry_at = UTC_TIMESTAMP(3), "
		"updated_at = UTC_TIMESTAMP(3), last_error = ? WHERE id = ?";
	const struct db_param params[] = { db_text(task->error), db_uint(task->id) };
	enum result result = db_execute(db, sql, params, ARRAY_LENGTH(params), NULL, error);

	if (result == RESULT_OK)
		result = compensation_set_refund_state(
			db, task->kind, task->payload, task->payload_size, "FAILED", error);
	if (result == RESULT_OK)
		result = compensation_raise_alert(db, task, error);
	return result;
}

static enum result bury_dead(struct claim *claim, struct error *error)
{
	enum result result = RESULT_OK;

	for (size_t i = 0; i < claim->list->count && result == RESULT_OK; i++)
		if (claim->list->tasks[i].is_dead)
			result = bury_one(claim->db, &claim->list->tasks[i], error);
	return error_context(result, error, "end tasks");
}

static size_t count_wishes(const struct compensation_claim_limits *limits)
{
	size_t count = 0;

	for (size_t i = 0; i < limits->wish_count; i++)
		count += limits->wishes[i].limit;
	return count;
}

enum result compensation_claim(struct db *db, const struct compensation_claim_limits *limits,
	struct compensation_list **list_out, struct error *error)
{
	struct claim claim = { .db = db, .limits = limits };
	size_t room = count_wishes(limits);
	enum result result;

	REQUIRE(room <= COMPENSATION_CLAIM_MAX && limits->retry_max <= COMPENSATION_RETRY_MAX);
	*list_out = NULL;
	ulid_generate(claim.lease_token);
	result = look(&claim, error);
	if (result != RESULT_OK)
		return result;
	claim.list = memory_allocate(sizeof(*claim.list));
	claim.list->tasks = memory_allocate_array(room, sizeof(*claim.list->tasks));
	result = db_begin(db, error);
	if (result == RESULT_OK)
		result = choose_all(&claim, error);
	if (result == RESULT_OK)
		result = lease(&claim, error);
	if (result == RESULT_OK)
		result = bury_dead(&claim, error);
	if (result == RESULT_OK)
		result = db_commit(db, error);
	if (result == RESULT_OK) {
		FAILPOINT("after_claim");
		*list_out = claim.list;
	} else {
		db_rollback(db);
		compensation_list_destroy(&claim.list);
	}
	return result;
}
