/*
 * outbox - rows of t_outbox_event: claim, mark sent, put off, mark failed.
 *
 * Rows are claimed by state, never by the last id seen, and leased: lease_token and lease_until.  A
 * row whose lease has ended is due like any other.  Every write behind a claim is guarded by the
 * token; a row that is leased to somebody else by now is left alone.
 */
#ifndef COMMON_ORDER_OUTBOX_H
#define COMMON_ORDER_OUTBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/result.h"
#include "common/base/text.h"
#include "common/base/ulid.h"

struct db;

enum {
	OUTBOX_CLAIM_MAX = 5000,
	OUTBOX_EVENT_ID_SIZE = 64 + 1,
	OUTBOX_TYPE_SIZE = 64 + 1,
	OUTBOX_TRACE_SIZE = 64 + 1,
	OUTBOX_TIME_SIZE = 32,
	OUTBOX_ERROR_SIZE = 256,      /* bytes of last_error that are kept, with the NUL */
	OUTBOX_PAYLOAD_MAX = 1048576, /* bytes; more can never be published */
	OUTBOX_CLAIM_BYTES = 4194304, /* of payloads in one claim */
};

/*
 * Of rows that any statement can change.  A session that checks no constraints can write others;
 * one of them in a claim would hold up all the rest, so they are left to whoever looks after them.
 */
#define OUTBOX_IS_SOUND "(payload IS NULL OR JSON_VALID(payload))"

struct outbox_row {
	uint64_t id;
	char event_id[OUTBOX_EVENT_ID_SIZE];
	char event_type[OUTBOX_TYPE_SIZE];
	char order_no[TEXT_KEY_SIZE];
	char trace_parent[OUTBOX_TRACE_SIZE]; /* "" when NULL */
	uint32_t attempts;
	int64_t age_ms;                    /* created → claimed, by MySQL's clock */
	char created_at[OUTBOX_TIME_SIZE]; /* ISO 8601 with Z */
	uint64_t created_s;                /* the same in seconds since 1970 */
	char available_at[OUTBOX_TIME_SIZE];
	char *payload;         /* NULL when NULL or longer than OUTBOX_PAYLOAD_MAX */
	uint64_t payload_size; /* in bytes, also when it is too long to be read */
};

struct outbox_batch {
	char lease_token[ULID_SIZE];
	struct outbox_row *rows;
	size_t count;
	bool has_more; /* due rows were left out */
};

/*
 * Behind which row a claim looks.  Rows that are sent stay in the index until the server has
 * cleaned up, and in a busy outbox each claim would read over all of them.  Only a hint: all rows
 * are looked at every few claims, and after each one that left nothing.  All zero bytes: no place.
 */
struct outbox_place {
	char available_at[OUTBOX_TIME_SIZE];
	uint64_t id;
	uint32_t uses; /* 0: look at all rows */
};

/*
 * One transaction: leases at most limit rows that are NEW, available and not leased, oldest first,
 * and no more payloads than OUTBOX_CLAIM_BYTES: the batch says whether that left rows out.  NONE:
 * nothing is due (behind place, which is given up then).  place may be NULL, and is moved on.  The
 * caller owns the batch.
 */
MUST_USE enum result outbox_claim(struct db *db, uint32_t limit, uint64_t lease_ms,
	struct outbox_place *place, struct outbox_batch **batch_out, struct error *error);
void outbox_batch_destroy(struct outbox_batch **batch);

/* Rows of one claim, count of them; the token guards what is written. */
struct outbox_ids {
	const char *lease_token;
	const uint64_t *ids;
	size_t count;
};

/*
 * One statement: takes out of ids, which rows points to, those that are not ours any more or that
 * somebody has locked at the moment; count_out says how many are left, at the front.
 */
MUST_USE enum result outbox_find_free(struct db *db, const struct outbox_ids *rows, uint64_t *ids,
	size_t *count_out, struct error *error);

/* One statement: NEW → SENT for the given rows.  lost_out: rows that were not ours any more. */
MUST_USE enum result outbox_mark_sent(
	struct db *db, const struct outbox_ids *rows, size_t *lost_out, struct error *error);
/*
 * One statement: ends the lease; the rows are available again after delay_ms.  reason NULL: nothing
 * went wrong; else it is one more attempt and the reason is kept.
 */
MUST_USE enum result outbox_put_off(struct db *db, const struct outbox_ids *rows, uint64_t delay_ms,
	const char *reason, struct error *error);
/* One statement: ends the lease; available again horizon_ms before the deadline of the order. */
MUST_USE enum result outbox_put_off_to_horizon(
	struct db *db, const struct outbox_ids *rows, uint64_t horizon_ms, struct error *error);
/* One statement, in the transaction of the act: SENT or FAILED → NEW, for an operator. */
MUST_USE enum result outbox_make_new(struct db *db, uint64_t id, struct error *error);
/* One transaction: NEW → FAILED with the reason, and one OUTBOX_FAILED alert.  CONFLICT: the row
 * was not ours any more, or is locked. */
MUST_USE enum result outbox_mark_failed(struct db *db, const char *lease_token,
	const struct outbox_row *row, const char *reason, struct error *error);

#endif
