#include "common/order/alert_delivery.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/io/db.h"
#include "common/order/id_list.h"

enum {
	COLUMN_IS_RIPE = ALERT_ROW_COLUMN_COUNT,
	COLUMN_NOW_MS,
};

/* The delivery of something that ended long ago, or of a reminder that is not wanted. */
#define NEVER "'9999-12-31 00:00:00'"

#define NOW_MS "CAST(UNIX_TIMESTAMP(UTC_TIMESTAMP(3)) * 1000 AS UNSIGNED)"

#define CHOICE                                                                                  \
	"SELECT " ALERT_ROW_COLUMNS ", delivery_state <> 'PENDING' OR attempts > 0 OR "         \
	"COALESCE(resolved_at, fired_at) <= UTC_TIMESTAMP(3) - INTERVAL ? MICROSECOND, " NOW_MS \
	" FROM t_alert FORCE INDEX (idx_delivery) "                                             \
	"WHERE next_attempt_at <= UTC_TIMESTAMP(3) "                                            \
	"AND (lease_until IS NULL OR lease_until <= UTC_TIMESTAMP(3)) AND " ALERT_IS_SOUND " AND "

static const char choose_pending_sql[] =
	CHOICE "delivery_state = 'PENDING' ORDER BY next_attempt_at LIMIT ? FOR UPDATE SKIP LOCKED";
static const char choose_sent_sql[] =
	CHOICE "delivery_state = 'SENT' AND state = 'FIRING' "
	       "ORDER BY next_attempt_at LIMIT ? FOR UPDATE SKIP LOCKED";
static const char choose_failed_sql[] =
	CHOICE "delivery_state = 'FAILED' AND state = 'FIRING' "
	       "ORDER BY next_attempt_at LIMIT ? FOR UPDATE SKIP LOCKED";

/* What is due, and then, in the same place, what is taken of it. */
struct choice {
	struct db *db;
	const struct alert_claim *claim;
	struct alert_batch *batch;
	bool *is_ripe; /* has waited for its company, or been tried before */
};

enum result alert_lock(struct db *db, struct error *error)
{
	return db_take_lock(db, "lapse.alerts", 0, error);
}

enum result alert_end_leases(struct db *db, const char *lease_token, struct error *error)
{
	/* A leased row is due: claims look at no other, and change nothing of that. */
	static const char sql[] =
		"UPDATE t_alert FORCE INDEX (idx_delivery) SET lease_token = NULL, "
		"lease_until = NULL WHERE delivery_state IN ('PENDING', 'SENT', 'FAILED') "
		"AND next_attempt_at <= UTC_TIMESTAMP(3) AND lease_until IS NOT NULL "
		"AND (lease_token IS NULL OR lease_token <> ?) AND " ALERT_IS_SOUND;
	const struct db_param params[] = { db_text(lease_token) };

	return error_context(db_execute(db, sql, params, ARRAY_LENGTH(params), NULL, error), error,
		"end leases of alerts");
}

enum result alert_keep(struct db *db, const struct alert_claim *claim, const uint64_t *ids,
	size_t count, struct error *error)
{
	const struct db_param before[] = { db_uint(claim->lease_ms * 1000) };
	const struct db_param token = db_text(claim->lease_token);
	const struct id_statement statement = {
		.head = "UPDATE t_alert FORCE INDEX (PRIMARY) SET "
			"lease_until = UTC_TIMESTAMP(3) + INTERVAL ? MICROSECOND WHERE id IN ",
		.tail = " AND lease_token = ?",
		.before = before,
		.before_count = ARRAY_LENGTH(before),
		.ids = ids,
		.count = count,
		.after = &token,
		.after_count = 1
	};

	return count == 0 ? RESULT_OK
			  : error_context(id_list_execute(db, &statement, NULL, error), error,
				    "keep alerts");
}

static enum result choose(const struct choice *choice, const char *sql, struct error *error)
{
	struct alert_batch *batch = choice->batch;
	uint64_t room = choice->claim->limit - batch->count;
	const struct db_param params[] = { db_uint(choice->claim->group_wait_ms * 1000),
		db_uint(room) };
	struct db_rows *rows = NULL;

	if (room == 0)
		return RESULT_OK;
	enum result result = db_query(choice->db, sql, params, ARRAY_LENGTH(params), &rows, error);
	while (result == RESULT_OK && db_rows_next(rows)) {
		alert_row_read(rows, &batch->rows[batch->count]);
		choice->is_ripe[batch->count++] = db_rows_uint(rows, COLUMN_IS_RIPE) != 0;
		batch->now_ms = db_rows_uint(rows, COLUMN_NOW_MS);
	}
	db_rows_destroy(&rows);
	return result == RESULT_NONE ? RESULT_OK : error_context(result, error, "find alerts");
}

static bool is_in_company(const struct alert_row *row, const struct alert_row *other)
{
	return row->kind == other->kind && text_equals(row->task_kind, other->task_kind);
}

/* A row whose wait is over takes the younger rows of its group along. */
static void ripen(const struct choice *choice)
{
	const struct alert_row *rows = choice->batch->rows;
	size_t count = choice->batch->count;

	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < count && !choice->is_ripe[i]; k++)
			choice->is_ripe[i] = choice->is_ripe[k] && !rows[k].is_silenced &&
					     is_in_company(&rows[i], &rows[k]);
}

static enum result put_off_silenced(
	const struct choice *choice, const uint64_t *ids, struct error *error)
{
	const struct id_statement statement = { .head = "UPDATE t_alert FORCE INDEX (PRIMARY) SET "
							"next_attempt_at = silenced_until "
							"WHERE id IN ",
		.tail = " AND silenced_until IS NOT NULL",
		.ids = ids,
		.count = choice->batch->silenced_count };

	return choice->batch->silenced_count == 0
		       ? RESULT_OK
		       : id_list_execute(choice->db, &statement, NULL, error);
}

static enum result lease(const struct choice *choice, const uint64_t *ids, struct error *error)
{
	static const char head[] = "UPDATE t_alert FORCE INDEX (PRIMARY) SET "
				   "attempts = LEAST(attempts, 4294967294) + 1, "
				   "repeat_count = 0, lease_token = ?, "
				   "lease_until = UTC_TIMESTAMP(3) + INTERVAL ? MICROSECOND, "
				   "updated_at = UTC_TIMESTAMP(3) WHERE id IN ";
	const struct db_param before[] = { db_text(choice->claim->lease_token),
		db_uint(choice->claim->lease_ms * 1000) };
	const struct id_statement statement = { .head = head,
		.tail = "",
		.before = before,
		.before_count = ARRAY_LENGTH(before),
		.ids = ids,
		.count = choice->batch->count };

	return choice->batch->count == 0 ? RESULT_OK
					 : id_list_execute(choice->db, &statement, NULL, error);
}

/* Leases what is ripe and puts off what is silenced. */
static enum result take(const struct choice *choice, uint64_t *ids, struct error *error)
{
	struct alert_batch *batch = choice->batch;
	size_t count = batch->count;

	ripen(choice);
	for (size_t i = 0; i < count; i++)
		if (batch->rows[i].is_silenced)
			ids[batch->silenced_count++] = batch->rows[i].id;
	enum result result = put_off_silenced(choice, ids, error);
	batch->count = 0;
	for (size_t i = 0; i < count; i++) {
		if (batch->rows[i].is_silenced || !choice->is_ripe[i])
			continue;
		batch->rows[batch->count] = batch->rows[i];
		batch->rows[batch->count].attempts++;
		ids[batch->count] = batch->rows[batch->count].id;
		batch->count++;
	}
	if (result == RESULT_OK)
		result = lease(choice, ids, error);
	return error_context(result, error, "lease alerts");
}

static enum result claim_in_transaction(
	const struct choice *choice, uint64_t *ids, struct error *error)
{
	static const char *const choices[] = { choose_pending_sql, choose_sent_sql,
		choose_failed_sql };
	enum result result = db_begin(choice->db, error);

	for (size_t i = 0; result == RESULT_OK && i < ARRAY_LENGTH(choices); i++)
		result = choose(choice, choices[i], error);
	if (result == RESULT_OK && choice->batch->count == 0)
		result = RESULT_NONE;
	if (result == RESULT_OK)
		result = take(choice, ids, error);
	if (result == RESULT_OK && choice->batch->count + choice->batch->silenced_count == 0)
		result = RESULT_NONE;
	return result == RESULT_OK ? db_commit(choice->db, error) : result;
}

enum result alert_claim(struct db *db, const struct alert_claim *claim,
	struct alert_batch **batch_out, struct error *error)
{
	struct choice choice = { .db = db, .claim = claim };

	REQUIRE(claim->limit > 0 && claim->limit <= ALERT_CLAIM_MAX);
	uint64_t *ids = memory_allocate_array(claim->limit, sizeof(*ids));
	*batch_out = NULL;
	choice.is_ripe = memory_allocate_array(claim->limit, sizeof(*choice.is_ripe));
	choice.batch = memory_allocate(sizeof(*choice.batch));
	choice.batch->rows = memory_allocate_array(claim->limit, sizeof(*choice.batch->rows));
	enum result result = claim_in_transaction(&choice, ids, error);
	if (result == RESULT_OK) {
		*batch_out = choice.batch;
	} else {
		db_rollback(db);
		alert_batch_destroy(&choice.batch);
	}
	free(choice.is_ripe);
	free(ids);
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

enum result alert_settle(struct db *db, const struct alert_outcome *outcome, struct error *error)
{
	static const char head[] =
		"UPDATE t_alert FORCE INDEX (PRIMARY) SET lease_token = NULL, lease_until = NULL, "
		"updated_at = UTC_TIMESTAMP(3), targets = ?, delivery_state = ?, last_error = ?, "
		"next_attempt_at = IF(? = 0 OR (state = 'RESOLVED' AND delivery_state <> "
		"'PENDING'), " NEVER ", UTC_TIMESTAMP(3) + INTERVAL ? MICROSECOND) WHERE id IN ";
	char reason[ALERT_TEXT_SIZE] = "";

	if (outcome->reason != NULL)
		(void)text_clip(reason, sizeof(reason), outcome->reason, strlen(outcome->reason));
	const struct db_param before[] = { db_text(outcome->targets),
		db_text(alert_delivery_state_names[outcome->state]),
		db_text(outcome->reason == NULL ? NULL : reason), db_uint(outcome->delay_ms),
		db_uint(outcome->delay_ms * 1000) };
	const struct db_param token = db_text(outcome->lease_token);
	const struct id_statement statement = { .head = head,
		.tail = " AND lease_token = ?",
		.before = before,
		.before_count = ARRAY_LENGTH(before),
		.ids = outcome->ids,
		.count = outcome->count,
		.after = &token,
		.after_count = 1 };

	return error_context(id_list_execute(db, &statement, NULL, error), error, "settle alerts");
}

/* Columns in the order of read_firing. */
static const char firing_sql[] =
	"SELECT kind, MAX(severity + 0) - 1, IF(kind = 'THRESHOLD', ref, '') AS rule_ref, "
	"COALESCE(JSON_UNQUOTE(JSON_EXTRACT(labels, '$.kind')), '') AS label_kind, "
	"SUBSTRING_INDEX(GROUP_CONCAT(COALESCE(JSON_UNQUOTE(JSON_EXTRACT(annotations, "
	"'$.summary')), '') ORDER BY id DESC SEPARATOR '\n'), '\n', 1), "
	"DATE_FORMAT(MIN(fired_at), '%Y-%m-%dT%H:%i:%s.%f'), COUNT(*), "
	"SUBSTRING_INDEX(GROUP_CONCAT(COALESCE(JSON_UNQUOTE(JSON_EXTRACT(annotations, "
	"'$.order_no')), ref) ORDER BY id DESC SEPARATOR ', '), ', ', 10), "
	"DATE_FORMAT(UTC_TIMESTAMP(3) + INTERVAL ? SECOND, '%Y-%m-%dT%H:%i:%s.%f') "
	"FROM t_alert FORCE INDEX (idx_state) WHERE state = 'FIRING' AND severity + 0 > ? "
	"AND (silenced_until IS NULL OR silenced_until <= UTC_TIMESTAMP(3)) "
	"GROUP BY kind, rule_ref, label_kind ORDER BY MIN(fired_at) LIMIT 200";

static void read_firing(const struct db_rows *rows, struct alert_firing *firing)
{
	size_t kind = text_find(alert_kind_names, db_rows_text(rows, 0, NULL));
	size_t size = 0;
	const char *text = NULL;

	memset(firing, 0, sizeof(*firing));
	if (alert_kind_names[kind] != NULL)
		firing->kind = (enum alert_kind)kind;
	firing->severity = (enum alert_severity)db_rows_uint(rows, 1);
	(void)text_copy(firing->ref, sizeof(firing->ref), db_rows_text(rows, 2, NULL));
	text = db_rows_text(rows, 3, &size);
	(void)text_clip(firing->task_kind, sizeof(firing->task_kind), text, size);
	text = db_rows_text(rows, 4, &size);
	(void)text_clip(firing->summary, sizeof(firing->summary), text, size);
	alert_row_copy_time(rows, 5, firing->fired_at);
	firing->count = db_rows_uint(rows, 6);
	text = db_rows_text(rows, 7, &size);
	(void)text_clip(firing->examples, sizeof(firing->examples), text, size);
}

enum result alert_list_firing(struct db *db, enum alert_severity min_severity, uint32_t ahead_s,
	struct alert_firing_list *list, struct error *error)
{
	const struct db_param params[] = { db_uint(ahead_s), db_uint(min_severity) };
	struct db_rows *rows = NULL;
	enum result result = db_query(db, firing_sql, params, ARRAY_LENGTH(params), &rows, error);

	list->count = 0;
	while (result == RESULT_OK && db_rows_next(rows) && list->count < ALERT_GROUP_MAX) {
		read_firing(rows, &list->items[list->count++]);
		alert_row_copy_time(rows, 8, list->later);
	}
	db_rows_destroy(&rows);
	return result == RESULT_NONE ? RESULT_OK : error_context(result, error, "list what fires");
}
