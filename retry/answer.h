/*
 * answer - HTTP answer into a verdict, by table.
 *
 * Only a documented success is success.  A verdict is about one task; what the answer says about
 * the host it came from is for the circuit breaker.
 */
#ifndef RETRY_ANSWER_H
#define RETRY_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/io/http.h"
#include "common/order/compensation_claim.h"

/* LAPSE_STOCK_SUCCESS. */
enum answer_success {
	ANSWER_SUCCESS_CODE,   /* 200 or 201 and a JSON object whose code is 0 */
	ANSWER_SUCCESS_STATUS, /* any 2xx */
};

/* The words of the setting, ended by NULL. */
extern const char *const answer_success_names[];

enum answer_health {
	ANSWER_HEALTH_WELL,       /* it answered and worked, whatever it thinks of this task */
	ANSWER_HEALTH_SICK,       /* the host as a whole is away, slow or overloaded */
	ANSWER_HEALTH_SUSPICIOUS, /* it may be the host, it may be what it was asked for */
};

struct answer_judgement {
	enum compensation_verdict verdict; /* DONE, RETRY or DEAD */
	enum answer_health health;
	char error[COMPENSATION_ERROR_SIZE]; /* any bytes; "" when DONE */
};

/* A call for one task. */
void answer_judge(const struct http_answer *answer, enum answer_success success,
	struct answer_judgement *judgement_out);

/*
 * A call for many tasks.  The judgement of the answer as a whole: DONE means that each task has its
 * own result in the list; find it with answer_judge_task.  A refusal of many tasks together refuses
 * none of them: RETRY.
 */
struct answer_batch;
void answer_judge_batch(const struct http_answer *answer, enum answer_success success,
	size_t task_count, struct answer_batch **batch_out, struct answer_judgement *judgement_out);
/* DONE or RETRY; judgement_out is not changed when the answer as a whole decided. */
void answer_judge_task(const struct answer_batch *batch, const char *idempotency_key,
	struct answer_judgement *judgement_out);
void answer_batch_destroy(struct answer_batch **batch);

#endif
