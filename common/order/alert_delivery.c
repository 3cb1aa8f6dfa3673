/* Delivery of alerts: claim, mark sent, put off. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/io/db.h"
#include "common/io/json.h"
#include "common/order/alert.h"
#include "common/order/id_list.h"

enum {
	JSON_MAX = 8192 /* of labels and annotations; longer ones are left out */
};

/* The delivery of something that ended long ago, or of a reminder that is not wanted. */
#define NEVER "'9999-12-31 00:00:00'"

/* Columns of the choice, in the order read_row knows. */
#define CHOICE                                                                           \
	"SELECT id, kind, severity, state = 'RESOLVED', ref, "                           \
	"IF(LENGTH(labels) > 8192, NULL, labels), "                                      \
	"IF(LENGTH(annotations) > 8192, NULL, annotations), "                            \
	"DATE_FORMAT(fired_at, '%Y-%m-%dT%H:%i:%s.%f'), "                                \
	"DATE_FORMAT(resolved_at, '%Y-%m-%dT%H:%i:%s.%f'), fired_count, attempts, "      \
	"IF(delivery_state = 'SENT' OR LENGTH(targets) > 1023, NULL, targets), "         \
	"delivery_state = 'SENT' OR attempts > 0 OR "                                    \
	"COALESCE(resolved_at, fired_at) <= UTC_TIMESTAMP(3) - INTERVAL ? MICROSECOND, " \
	"delivery_state = 'SENT' FROM t_alert FORCE INDEX (idx_delivery) "               \
	"WHERE next_attempt_at <= UTC_TIMESTAMP(3) "                                     \
	"AND (lease_until IS NULL OR lease_until <= UTC_TIMESTAMP(3)) "                  \
	"AND (silenced_until IS NULL OR silenced_until <= UTC_TIMESTAMP(3)) AND "

static_assert(JSON_MAX == 8192 && ALERT_TARGETS_SIZE == 1024, "the choice knows these numbers too");

static const char choose_pending_sql[] =
	CHOICE "delivery_state = 'PENDING' ORDER BY next_attempt_at LIMIT ? FOR UPDATE SKIP LOCKED";
static const char choose_reminders_sql[] =
	CHOICE "delivery_state = 'SENT' AND state = 'FIRING' "
	       "ORDER BY next_attempt_at LIMIT ? FOR UPDATE SKIP LOCKED";

struct candidate {
	struct alert_row row;
	bool is_ripe; /* has waited for its company, or been tried before */
};

struct candidates {
	struct candidate *items;
	size_t count;
};

static size_t find_name(const char *const *names, const char *name)
{
	size_t i = 0;

	while (names[i] != NULL && !text_equals(names[i], name))
		i++;
	REQUIRE(names[i] != NULL); /* the column knows these words only */
	return i;
}

/* "2026-01-31T10:21:03.120000" of the server into "2026-01-31T10:21:03.120Z". */
static void read_time(const struct db_rows *rows, size_t column, char *time, size_t time_size)
{
	size_t size = 0;
	const char *text = db_rows_text(rows, column, &size);

	time[0] = '\0';
	if (size > 3)
		(void)text_format(time, time_size, "%.*sZ", (int)(size - 3), text);
}

static void copy_value(char *target, size_t target_size, const char *value)
{
	if (value != NULL)
		(void)text_copy(target, target_size, value);
}

/* Labels and annotations were written by whoever raised the alert: what is missing stays "". */
static void read_words(const struct db_rows *rows, struct alert_row *row)
{
	struct json *labels = NULL;
	struct json *annotations = NULL;
	size_t size = 0;
	const char *text = db_rows_text(rows, 5, &size);
	uint64_t calls = 0;

	if (json_parse(text, size, JSON_MAX, &labels, NULL) == RESULT_OK)
		copy_value(row->task_kind, sizeof(row->task_kind), json_get_text(labels, "kind"));
	text = db_rows_text(rows, 6, &size);
	if (json_parse(text, size, JSON_MAX, &annotations, NULL) == RESULT_OK) {
		const char *digits = json_get_text(annotations, "calls");

		copy_value(
			row->summary, sizeof(row->summary), json_get_text(annotations, "summary"));
		copy_value(row->description, sizeof(row->description),
			json_get_text(annotations, "description"));
		copy_value(row->order_no, sizeof(row->order_no),
			json_get_text(annotations, "order_no"));
		if (digits != NULL && text_parse_uint(digits, 0, UINT32_MAX, &calls))
			row->calls = (uint32_t)calls;
	}
	json_destroy(&annotations);
	json_destroy(&labels);
}

static void read_row(const struct db_rows *rows, struct candidate *candidate)
{
	struct alert_row *row = &candidate->row;
	bool is_reminder = db_rows_uint(rows, 13) != 0;

	row->id = db_rows_uint(rows, 0);
	row->kind = (enum alert_kind)find_name(alert_kind_names, db_rows_text(rows, 1, NULL));
	row->severity =
		(enum alert_severity)find_name(alert_severity_names, db_rows_text(rows, 2, NULL));
	row->is_resolved = db_rows_uint(rows, 3) != 0;
	(void)text_copy(row->ref, sizeof(row->ref), db_rows_text(rows, 4, NULL));
	read_words(rows, row);
	read_time(rows, 7, row->fired_at, sizeof(row->fired_at));
	if (row->is_resolved)
		read_time(rows, 8, row->resolved_at, sizeof(row->resolved_at));
	row->fired_count = (uint32_t)db_rows_uint(rows, 9);
	row->attempts = is_reminder ? 1 : (uint32_t)db_rows_uint(rows, 10) + 1;
	(void)text_copy(row->targets, sizeof(row->targets), db_rows_text(rows, 11, NULL));
	candidate->is_ripe = db_rows_uint(rows, 12) != 0;
}

static enum result choose(struct db *db, const char *sql, uint32_t limit, uint64_t group_wait_ms,
	struct candidates *candidates, struct error *error)
{
	const struct db_param params[] = { db_uint(group_wait_ms * 1000), db_uint(limit) };
	struct db_rows *rows = NULL;
	enum result result = db_query(db, sql, params, ARRAY_LENGTH(params), &rows, error);

	while (result == RESULT_OK && db_rows_next(rows))
		read_row(rows, &candidates->items[candidates->count++]);
	db_rows_destroy(&rows);
	return result == RESULT_NONE ? RESULT_OK : error_context(result, error, "find alerts");
}

static bool is_in_company(const struct candidate *candidate, const struct candidate *other)
{
	return candidate->row.kind == other->row.kind &&
	       text_equals(candidate->row.task_kind, other->row.task_kind);
}

/* A row whose wait is over takes the younger rows of its group along. */
static void take_ripe(const struct candidates *candidates, struct alert_batch *batch)
{
	for (size_t i = 0; i < candidates->count; i++) {
		const struct candidate *candidate = &candidates->items[i];
		bool is_ripe = candidate->is_ripe;

		for (size_t k = 0; k < candidates->count && !is_ripe; k++)
			is_ripe = candidates->items[k].is_ripe &&
				  is_in_company(candidate, &candidates->items[k]);
		if (is_ripe)
			batch->rows[batch->count++] = candidate->row;
	}
}

static enum result lease(
	struct db *db, const struct alert_batch *batch, uint64_t lease_ms, struct error *error)
{
	static const char head[] = "UPDATE t_alert FORCE INDEX (PRIMARY) SET "
				   "attempts = IF(delivery_state = 'SENT', 1, attempts + 1), "
				   "targets = IF(delivery_state = 'SENT', NULL, targets), "
				   "delivery_state = 'PENDING', lease_token = ?, "
				   "lease_until = UTC_TIMESTAMP(3) + INTERVAL ? MICROSECOND, "
				   "updated_at = UTC_TIMESTAMP(3) WHERE id IN ";
	const struct db_param before[] = { db_text(batch->lease_token), db_uint(lease_ms * 1000) };
	uint64_t *ids = memory_allocate_array(batch->count, sizeof(*ids));
	const struct id_statement statement = { .head = head,
		.tail = "",
		.before = before,
		.before_count = ARRAY_LENGTH(before),
		.ids = ids,
		.count = batch->count };

	for (size_t i = 0; i < batch->count; i++)
		ids[i] = batch->rows[i].id;
	enum result result = id_list_execute(db, &statement, NULL, error);
	free(ids);
	return error_context(result, error, "lease alerts");
}

static enum result claim_in_transaction(struct db *db, struct candidates *candidates,
	struct alert_batch *batch, uint32_t limit, uint64_t group_wait_ms, struct error *error)
{
	enum result result =
		choose(db, choose_pending_sql, limit, group_wait_ms, candidates, error);

	if (result == RESULT_OK && candidates->count < limit)
		result = choose(db, choose_reminders_sql, limit - (uint32_t)candidates->count,
			group_wait_ms, candidates, error);
	if (result != RESULT_OK)
		return result;
	take_ripe(candidates, batch);
	return batch->count == 0 ? RESULT_NONE : RESULT_OK;
}

enum result alert_claim(struct db *db, uint32_t limit, uint64_t lease_ms, uint64_t group_wait_ms,
	struct alert_batch **batch_out, struct error *error)
{
	struct candidates candidates = { .items = NULL };
	struct alert_batch *batch = memory_allocate(sizeof(*batch));
	enum result result = db_begin(db, error);

	REQUIRE(limit <= ALERT_CLAIM_MAX);
	*batch_out = NULL;
	ulid_generate(batch->lease_token);
	candidates.items = memory_allocate_array(limit, sizeof(*candidates.items));
	batch->rows = memory_allocate_array(limit, sizeof(*batch->rows));
	if (result == RESULT_OK)
		result = claim_in_transaction(db, &candidates, batch, limit, group_wait_ms, error);
	if (result == RESULT_OK)
		result = lease(db, batch, lease_ms, error);
	if (result == RESULT_OK)
		result = db_commit(db, error);
	if (result == RESULT_OK) {
		*batch_out = batch;
	} else {
		db_rollback(db);
		alert_batch_destroy(&batch);
	}
	free(candidates.items);
	return result;
}

void alert_batch_destroy(struct alert_batch **batch)
{
	if (*batch == NULL)
		return;
	free((*batch)->rows);
	free(*batch);
	*batch = NULL;
}

enum result alert_end_leases(struct db *db, struct error *error)
{
	static const char sql[] =
		"UPDATE t_alert FORCE INDEX (idx_delivery) SET lease_token = NULL, "
		"lease_until = NULL WHERE delivery_state = 'PENDING' AND lease_until IS NOT NULL";

	return error_context(
		db_execute(db, sql, NULL, 0, NULL, error), error, "end leases of alerts");
}

static enum result settle(struct db *db, const char *head, const struct db_param *before,
	size_t before_count, const struct alert_delivery *delivery, struct error *error)
{
	const struct db_param token = db_text(delivery->lease_token);
	const struct id_statement statement = { .head = head,
		.tail = " AND lease_token = ?",
		.before = before,
		.before_count = before_count,
		.ids = delivery->ids,
		.count = delivery->count,
		.after = &token,
		.after_count = 1 };

	return error_context(id_list_execute(db, &statement, NULL, error), error, "settle alerts");
}

#define END_OF_LEASE                                                                        \
	"UPDATE t_alert FORCE INDEX (PRIMARY) SET lease_token = NULL, lease_until = NULL, " \
	"updated_at = UTC_TIMESTAMP(3), targets = ?, "

enum result alert_mark_sent(
	struct db *db, const struct alert_delivery *delivery, struct error *error)
{
	static const char head[] =
		END_OF_LEASE "delivery_state = 'SENT', last_error = NULL, "
			     "next_attempt_at = IF(? = 0 OR state = 'RESOLVED', " NEVER
			     ", UTC_TIMESTAMP(3) + INTERVAL ? MICROSECOND) WHERE id IN ";
	const struct db_param before[] = { db_text(delivery->targets), db_uint(delivery->delay_ms),
		db_uint(delivery->delay_ms * 1000) };

	return settle(db, head, before, ARRAY_LENGTH(before), delivery, error);
}

enum result alert_put_off(struct db *db, const struct alert_delivery *delivery, struct error *error)
{
	static const char head[] = END_OF_LEASE
		"delivery_state = IF(? = 0, 'FAILED', 'PENDING'), last_error = ?, "
		"next_attempt_at = UTC_TIMESTAMP(3) + INTERVAL ? MICROSECOND WHERE id IN ";
	char reason[ALERT_TEXT_SIZE];

	(void)text_clip(reason, sizeof(reason), delivery->reason, strlen(delivery->reason));
	const struct db_param before[] = { db_text(delivery->targets), db_uint(delivery->delay_ms),
		db_text(reason), db_uint(delivery->delay_ms * 1000) };

	return settle(db, head, before, ARRAY_LENGTH(before), delivery, error);
}
