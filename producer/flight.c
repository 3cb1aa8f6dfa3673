#include "producer/flight.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/backoff.h"
#include "common/base/failpoint.h"
#include "common/base/log.h"
#include "common/base/memory.h"

enum {
	AGAIN_BASE_MS = 500,
	AGAIN_CAP_MS = 30000
};

/* How the fates are written. */
struct flight_writer {
	struct db *db;
	uint64_t horizon_ms;
	size_t *lost;
};

void flight_start(struct flight *flight, struct outbox_batch *batch_adopt, uint64_t now_ms)
{
	flight->batch = batch_adopt;
	flight->rows = memory_allocate_array(batch_adopt->count, sizeof(*flight->rows));
	flight->open = 0;
	flight->start_ms = now_ms;
}

void flight_end(struct flight *flight)
{
	outbox_batch_destroy(&flight->batch);
	free(flight->rows);
	flight->rows = NULL;
	flight->open = 0;
}

void flight_open_message(struct flight *flight, size_t row)
{
	if (flight->rows[row].open++ == 0)
		flight->open++;
}

void flight_set_fate(struct flight *flight, size_t row, enum flight_fate fate, const char *reason)
{
	flight->rows[row].fate = fate;
	(void)text_copy(flight->rows[row].reason, sizeof(flight->rows[row].reason),
		reason == NULL ? "" : reason);
}

void flight_close_message(struct flight *flight, size_t row, bool is_positive, const char *reason)
{
	REQUIRE(flight->rows[row].open > 0);
	if (--flight->rows[row].open == 0)
		flight->open--;
	if (!is_positive)
		flight_set_fate(flight, row, FLIGHT_FATE_AGAIN, reason);
}

void flight_lose(struct flight *flight, const char *reason)
{
	for (size_t i = 0; flight->batch != NULL && i < flight->batch->count; i++)
		while (flight->rows[i].open > 0)
			flight_close_message(flight, i, false, reason);
}

/* What one statement writes. */
struct group {
	enum flight_fate fate;
	uint32_t attempts; /* AGAIN: only rows with so many */
};

static bool is_in_group(const struct flight *flight, size_t row, const struct group *group)
{
	return flight->rows[row].fate == group->fate &&
	       (group->fate != FLIGHT_FATE_AGAIN ||
		       flight->batch->rows[row].attempts == group->attempts);
}

static size_t list_ids(const struct flight *flight, const struct group *group, uint64_t *ids)
{
	size_t count = 0;

	for (size_t i = 0; i < flight->batch->count; i++)
		if (is_in_group(flight, i, group))
			ids[count++] = flight->batch->rows[i].id;
	return count;
}

static void mark_written(struct flight *flight, const struct group *group)
{
	for (size_t i = 0; i < flight->batch->count; i++)
		if (is_in_group(flight, i, group))
			flight->rows[i].fate = FLIGHT_FATE_WRITTEN;
}

/* The reason of the first of them stands for all. */
static const char *find_reason(const struct flight *flight, const struct group *group)
{
	for (size_t i = 0; i < flight->batch->count; i++)
		if (is_in_group(flight, i, group))
			return flight->rows[i].reason;
	return "";
}

static enum result put_off_again(struct flight *flight, struct db *db, const struct group *group,
	const struct outbox_ids *rows, struct error *error)
{
	const char *reason = find_reason(flight, group);

	if (log_is_worth_repeating(&flight->put_off_count))
		log_warn(log_event("rows_not_published"), log_uint("rows", rows->count),
			log_uint("attempts", group->attempts + 1), log_text("reason", reason),
			log_uint("count", flight->put_off_count));
	return outbox_put_off(db, rows,
		backoff_delay_ms(group->attempts, AGAIN_BASE_MS, AGAIN_CAP_MS), reason, error);
}

static enum result write_ids(struct flight *flight, const struct flight_writer *writer,
	const struct group *group, const struct outbox_ids *rows, struct error *error)
{
	size_t lost = 0;
	enum result result = RESULT_OK;

	switch (group->fate) {
	case FLIGHT_FATE_SENT:
		result = outbox_mark_sent(writer->db, rows, &lost, error);
		*writer->lost += lost;
		return result;
	case FLIGHT_FATE_HORIZON:
		return outbox_put_off_to_horizon(writer->db, rows, writer->horizon_ms, error);
	case FLIGHT_FATE_AGAIN:
		return put_off_again(flight, writer->db, group, rows, error);
	case FLIGHT_FATE_NEVER:
	case FLIGHT_FATE_WRITTEN:
		break;
	}
	return result;
}

/* A row that somebody has locked must not hold up the others: it is left to its lease. */
static enum result write_group(struct flight *flight, const struct flight_writer *writer,
	const struct group *group, struct error *error)
{
	uint64_t *ids = memory_allocate_array(flight->batch->count, sizeof(*ids));
	struct outbox_ids rows = { flight->batch->lease_token, ids, list_ids(flight, group, ids) };
	size_t wanted = rows.count;
	enum result result = RESULT_OK;

	if (rows.count > 0)
		result = write_ids(flight, writer, group, &rows, error);
	if (result == RESULT_CONFLICT) {
		size_t free_count = 0;

		result = outbox_find_free(writer->db, &rows, ids, &free_count, error);
		rows.count = free_count;
		if (result == RESULT_OK && rows.count > 0)
			result = write_ids(flight, writer, group, &rows, error);
		*writer->lost += result == RESULT_OK ? wanted - rows.count : 0;
	}
	if (result == RESULT_OK)
		mark_written(flight, group);
	free(ids);
	return result;
}

/* Each number of attempts has a delay of its own. */
static enum result write_again(
	struct flight *flight, const struct flight_writer *writer, struct error *error)
{
	enum result result = RESULT_OK;
	bool have_all_gone = true;

	for (size_t i = 0; i < flight->batch->count && result == RESULT_OK; i++) {
		const struct group group = { FLIGHT_FATE_AGAIN, flight->batch->rows[i].attempts };

		if (flight->rows[i].fate != FLIGHT_FATE_AGAIN)
			continue;
		have_all_gone = false;
		result = write_group(flight, writer, &group, error);
	}
	if (have_all_gone)
		flight->put_off_count = 0;
	return result;
}

static enum result write_never(struct flight *flight, struct db *db, struct error *error)
{
	enum result result = RESULT_OK;

	for (size_t i = 0; i < flight->batch->count && result == RESULT_OK; i++) {
		const struct outbox_row *row = &flight->batch->rows[i];

		if (flight->rows[i].fate != FLIGHT_FATE_NEVER)
			continue;
		log_error(log_event("outbox_failed"), log_text("order_no", row->order_no),
			log_text("event_id", row->event_id),
			log_text("reason", flight->rows[i].reason));
		result = outbox_mark_failed(
			db, flight->batch->lease_token, row, flight->rows[i].reason, error);
		/* Lost or locked: whoever has it decides, or we do when its lease has ended. */
		if (result == RESULT_CONFLICT)
			result = RESULT_OK;
		if (result == RESULT_OK)
			flight->rows[i].fate = FLIGHT_FATE_WRITTEN;
	}
	return result;
}

enum result flight_settle(struct flight *flight, struct db *db, uint64_t horizon_ms,
	size_t *lost_out, struct error *error)
{
	const struct flight_writer writer = { db, horizon_ms, lost_out };
	const struct group sent = { .fate = FLIGHT_FATE_SENT };
	const struct group horizon = { .fate = FLIGHT_FATE_HORIZON };

	*lost_out = 0;
	FAILPOINT("after_confirm");
	enum result result = write_group(flight, &writer, &sent, error);
	if (result == RESULT_OK)
		result = write_group(flight, &writer, &horizon, error);
	if (result == RESULT_OK)
		result = write_again(flight, &writer, error);
	if (result == RESULT_OK)
		result = write_never(flight, db, error);
	FAILPOINT("after_commit");
	return result;
}
