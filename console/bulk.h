/*
 * bulk - requeues many DEAD tasks, 20 rows a second, in the loop of the console.
 *
 * It acts on exactly the rows it was given.  What was done stands in the audit under one bulk_id.
 * When the console ends, the bulk ends: starting it again takes the rest.
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
	BULK_WORDS_SIZE = 768,
	BULK_ROWS_PER_SECOND = 20,
	BULK_WHY_SIZE = 120,
	BULK_OTHER_MAX = 200,
};

enum bulk_state {
	BULK_STATE_EMPTY, /* no rows yet */
	BULK_STATE_RUNNING,
	BULK_STATE_STOPPED, /* by hand */
	BULK_STATE_DONE,
};

/* A row that did not go well. */
struct bulk_other {
	uint64_t id;
	enum act_outcome outcome;
	char why[BULK_WHY_SIZE];
};

struct bulk_job {
	char id[ULID_SIZE]; /* bulk_id of the audit */
	enum bulk_state state;
	struct identity owner;
	char request_id[LEDGER_ID_SIZE];
	char words[BULK_WORDS_SIZE];
	struct act_task *rows; /* while it runs */
	size_t count;
	size_t asked;              /* rows of the preview: some may have moved before it began */
	size_t next;               /* the row that is next */
	struct bulk_other *others; /* the first of them; all are in the audit */
	size_t other_count;
	size_t counts[ACT_OUTCOME_COUNT];
	size_t row_max;
	uint64_t touched_ms;
};

/* Borrows database. */
void bulk_create(struct database *database, struct bulk **bulk_out);
void bulk_destroy(struct bulk **bulk);

/* A new one for at most row_max rows; the one that has been quiet longest makes room.  NULL: all
 * run. */
struct bulk_job *bulk_add(struct bulk *bulk, const struct identity *owner, size_t row_max);
/* false: there is no room for more. */
bool bulk_add_row(struct bulk_job *job, const struct act_task *task);
/* One that came to nothing. */
void bulk_forget(struct bulk_job *job);
/* NULL: not here (any more). */
struct bulk_job *bulk_find(struct bulk *bulk, const char *id);
/* The one that this form of this person has started; NULL: none. */
struct bulk_job *bulk_find_request(struct bulk *bulk, const char *owner, const char *request_id);

void bulk_start(struct bulk_job *job, const char *request_id);
void bulk_stop(struct bulk_job *job);

/* In every turn: at most one row; after how many milliseconds it wants to be called again. */
uint64_t bulk_work(struct bulk *bulk);

#endif
