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

static size_t list_ids(const struct flight *flight, enum flight_fate fate, uint64_t *ids)
{
	size_t count = 0;

	for (size_t i = 0; i < flight->batch->count; i++)
		if (flight->rows[i].fate == fate)
			ids[count++] = flight->batch->rows[i].id;
	return count;
}

/* All wait as long as the one that failed most often, so one statement serves them all. */
static enum result put_off_again(
	struct flight *flight, struct db *db, const struct outbox_ids *rows, struct error *error)
{
	const char *reason = "";
	uint32_t attempts = 0;

	for (size_t i = 0; i < flight->batch->count; i++) {
		if (flight->rows[i].fate != FLIGHT_FATE_AGAIN)
			continue;
		reason = flight->rows[i].reason;
		if (flight->batch->rows[i].attempts > attempts)
			attempts = flight->batch->rows[i].attempts;
	}
	log_warn(log_event("rows_not_published"), log_uint("rows", rows->count),
		log_uint("attempts", attempts + 1), log_text("reason", reason));
	return outbox_put_off(
		db, rows, backoff_delay_ms(attempts, AGAIN_BASE_MS, AGAIN_CAP_MS), reason, error);
}

static enum result mark_never(struct flight *flight, struct db *db, struct error *error)
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
		if (result == RESULT_CONFLICT)
			result = RESULT_OK; /* the lease was lost: whoever has it now decides */
	}
	return result;
}

enum result flight_settle(struct flight *flight, struct db *db, uint64_t horizon_ms,
	size_t *lost_out, struct error *error)
{
	uint64_t *ids = memory_allocate_array(flight->batch->count, sizeof(*ids));
	struct outbox_ids rows = { .lease_token = flight->batch->lease_token, .ids = ids };
	enum result result = RESULT_OK;

	*lost_out = 0;
	FAILPOINT("after_confirm");
	rows.count = list_ids(flight, FLIGHT_FATE_SENT, ids);
	if (rows.count > 0)
		result = outbox_mark_sent(db, &rows, lost_out, error);
	rows.count = list_ids(flight, FLIGHT_FATE_HORIZON, ids);
	if (result == RESULT_OK && rows.count > 0)
		result = outbox_put_off_to_horizon(db, &rows, horizon_ms, error);
	rows.count = list_ids(flight, FLIGHT_FATE_AGAIN, ids);
	if (result == RESULT_OK && rows.count > 0)
		result = put_off_again(flight, db, &rows, error);
	if (result == RESULT_OK)
		result = mark_never(flight, db, error);
	FAILPOINT("after_commit");
	free(ids);
	return result;
}
