/*
 * work_internal - what the parts of work share.
 */
#ifndef RETRY_WORK_INTERNAL_H
#define RETRY_WORK_INTERNAL_H

#include "common/io/http.h"
#include "common/order/subscriber.h"
#include "retry/answer.h"
#include "retry/breaker.h"
#include "retry/job.h"
#include "retry/request.h"
#include "retry/retry.h"
#include "retry/work.h"

enum {
	WORK_FIXED_TARGETS = 2, /* stock, refund; those of subscribers stand behind them */
	WORK_TARGET_MAX = WORK_FIXED_TARGETS + SUBSCRIBER_MAX,
	WORK_SETTLE_COUNT = 256,    /* verdicts that are written at once without waiting for more */
	WORK_SETTLE_WAIT_MS = 15,   /* the longest wait of a verdict for its company */
	WORK_LEASE_MARGIN_MS = 500, /* of the lease, kept for the settle */
};

/* A service that takes calls. */
struct target {
	const char *name;                      /* column target */
	const char *url;                       /* borrowed; NULL: its tasks stay PENDING */
	char subscriber[SUBSCRIBER_NAME_SIZE]; /* what name points to; "": it is none */
	char host[HTTP_TARGET_SIZE];
	enum request_form form;
	enum answer_success success;
	size_t task_max; /* in one call */
	size_t call_max; /* at a time: some places are kept for the other targets */

	struct breaker breaker;
	struct job_queue queue; /* claimed, waiting for a place */
	size_t running;         /* calls */
	uint64_t look_at_ms;    /* into the table, no sooner */
	uint64_t pace_ms;       /* when the pace was last measured */
	size_t answered;        /* tasks since then */
	size_t ahead;           /* tasks to claim beyond the free places */
	uint64_t failures;      /* in a row, for folding their lines */
	uint64_t failed_ms;
};

struct work_call;

struct work_totals {
	uint64_t done, retried, dead, lost;
};

struct work {
	const struct retry_settings *settings;
	struct http *http;
	struct subscriber_list subscribers;
	bool needs_load;  /* they are not known, or not all are targets yet */
	uint64_t load_ms; /* next try */
	uint64_t load_failures;
	struct target targets[WORK_TARGET_MAX];
	size_t target_count;
	size_t first_target;      /* the first to get free places in the next turn */
	struct work_call **calls; /* under way; one place for each that may be */
	size_t running;
	size_t running_tasks; /* in them */
	size_t running_webhooks;
	int64_t server_ahead_ms; /* MySQL's clock, which signs: ours may be wrong */
	struct job_queue done;   /* with their verdicts */
	uint64_t done_ms;        /* when the first of them came */
	char missing[256];
	struct work_totals totals; /* since the last line about them */
	uint64_t totals_ms;
};

/* Makes a target of a place: what plan says, and nothing under way. */
void work_set_target(struct work *work, struct target *target, const struct target *plan);
bool work_is_webhook(const struct target *target);
/* Words about targets that cannot be called. */
void work_describe_missing(struct work *work);
/* Calls of this target that may be started now. */
size_t work_count_places(const struct work *work, struct target *target, uint64_t now_ms);
/* Forgets a call whose answer is not waited for. */
void work_abandon_call(struct work_call *call);
/* Into the queue of what is to be settled. */
void work_finish(struct work *work, struct job *job);
/* It has become DEAD: a line and a count. */
void work_note_dead(struct work *work, const struct compensation_task *task);
/* Refused without a call. */
void work_refuse(struct work *work, struct job *job, const char *reason);
/* Everything that waits for a call of this target. */
void work_give_back_queue(struct work *work, struct target *target);

#endif
