/*
 * bulk - requeues many DEAD tasks, 20 rows a second, in the loop of the console.
 *
 * A preview freezes the rows; the start acts on exactly these, however many die meanwhile.  What
 * was done stands in the audit under one bulk_id.  When the console ends, the bulk ends: starting
 * it again takes the rest.
 */
#ifndef CONSOLE_BULK_H
#define CONSOLE_BULK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/ulid.h"
#include "common/order/act_task.h"
#include "console/ledger.h"
#include "console/role.h"

struct bulk;
struct database;

enum {
	BULK_ROW_MAX = 5000,
	BULK_WORDS_SIZE = 768,
	BULK_ROWS_PER_SECOND = 20,
	BULK_WHY_SIZE = 120,
};

enum bulk_state {
	BULK_STATE_PREVIEW,
	BULK_STATE_RUNNING,
	BULK_STATE_STOPPED, /* by hand */
	BULK_STATE_DONE,
};

struct bulk_row {
	struct act_task task;
	enum act_outcome outcome;
	uint64_t audit_id;
	char why[BULK_WHY_SIZE];
};

struct bulk_job {
	char id[ULID_SIZE]; /* bulk_id of the audit */
	enum bulk_state state;
	struct identity owner;
	char request_id[LEDGER_ID_SIZE];
	char words[BULK_WORDS_SIZE];
	struct bulk_row *rows;
	size_t count;
	size_t next; /* the row that is next */
	size_t counts[ACT_OUTCOME_COUNT];
	uint64_t touched_ms;
};

/* Borrows database. */
void bulk_create(struct database *database, struct bulk **bulk_out);
void bulk_destroy(struct bulk **bulk);

/* A new preview without rows; the one that has been quiet longest makes room.  NULL: all run. */
struct bulk_job *bulk_add(struct bulk *bulk, const struct identity *owner);
/* false: there is no room for more. */
bool bulk_add_row(struct bulk_job *job, const struct act_task *task);
/* A preview that came to nothing. */
void bulk_forget(struct bulk_job *job);
/* NULL: not here (any more). */
struct bulk_job *bulk_find(struct bulk *bulk, const char *id);

void bulk_start(struct bulk_job *job, const char *request_id);
void bulk_stop(struct bulk_job *job);

/* In every turn: at most one row; after how many milliseconds it wants to be called again. */
uint64_t bulk_work(struct bulk *bulk);

#endif
