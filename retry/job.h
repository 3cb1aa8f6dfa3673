/*
 * job - a claimed task on its way through lapse-retry, and queues of them.
 */
#ifndef RETRY_JOB_H
#define RETRY_JOB_H

#include <stddef.h>
#include <stdint.h>

#include "common/order/compensation_claim.h"

struct json;

struct job {
	struct compensation_task task;
	struct json *item; /* what its call carries; NULL: it cannot be called */
	uint64_t subject;  /* see request_hash_subject */
	uint64_t claimed_ms;
	struct job *next; /* in its queue */
};

/* First in, first out.  All zero bytes is an empty queue. */
struct job_queue {
	struct job *first;
	struct job *last;
	size_t count;
};

/* Takes over what task owns. */
MUST_USE struct job *job_create(struct compensation_task *task, uint64_t claimed_ms);
void job_destroy(struct job **job);

void job_queue_push(struct job_queue *queue, struct job *job);
/* NULL when it is empty. */
MUST_USE struct job *job_queue_pop(struct job_queue *queue);
/* The first one of another subject, else simply the first one. */
MUST_USE struct job *job_queue_pop_stranger(struct job_queue *queue, uint64_t subject);
void job_queue_clear(struct job_queue *queue);

#endif
