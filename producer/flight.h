/*
 * flight - claimed rows between their claim and their settle: what became of each, and one write
 * per kind when all is known.
 */
#ifndef PRODUCER_FLIGHT_H
#define PRODUCER_FLIGHT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/order/outbox.h"

struct db;

enum flight_fate {
	FLIGHT_FATE_SENT,    /* confirmed, or nothing to publish: mark SENT */
	FLIGHT_FATE_AGAIN,   /* not taken by the broker: later, one more attempt */
	FLIGHT_FATE_HORIZON, /* too far away: sleeps in the outbox */
	FLIGHT_FATE_NEVER,   /* can never be published: mark FAILED */
	FLIGHT_FATE_WRITTEN, /* its fate is in the table, or it is not ours to write any more */
};

struct flight_row {
	uint32_t open; /* messages of this row that are not confirmed yet */
	enum flight_fate fate;
	char reason[OUTBOX_ERROR_SIZE]; /* AGAIN, NEVER */
};

struct flight {
	struct outbox_batch *batch; /* NULL: this place is free */
	struct flight_row *rows;
	size_t open; /* rows with open messages */
	uint64_t start_ms;
	uint64_t put_off_count; /* since all rows went, also over batches: folds the log */
};

/* Takes the batch over; every row starts as SENT with nothing open. */
void flight_start(struct flight *flight, struct outbox_batch *batch_adopt, uint64_t now_ms);
void flight_end(struct flight *flight);

void flight_open_message(struct flight *flight, size_t row);
/* One message of the row is settled; not positive: AGAIN with the reason. */
void flight_close_message(struct flight *flight, size_t row, bool is_positive, const char *reason);
void flight_set_fate(struct flight *flight, size_t row, enum flight_fate fate, const char *reason);
/* The connection is gone: whatever is open is AGAIN. */
void flight_lose(struct flight *flight, const char *reason);

/*
 * Writes what became of the rows, one statement per fate; may be called again after a failure.
 * lost_out: rows that were not ours any more, or that somebody has locked: their leases run out and
 * they are published a second time.
 */
MUST_USE enum result flight_settle(struct flight *flight, struct db *db, uint64_t horizon_ms,
	size_t *lost_out, struct error *error);

#endif
