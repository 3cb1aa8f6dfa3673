/*
 * webhook - a WEBHOOK task as a request: Standard Webhooks (standardwebhooks.com).
 *
 * The body is the event as it stands in the row.  The id is the event's and stays the same over
 * retries; the timestamp is that of the call, and the signature goes over both and the body.
 */
#ifndef RETRY_WEBHOOK_H
#define RETRY_WEBHOOK_H

#include <stdint.h>

#include "common/base/result.h"
#include "common/order/compensation_claim.h"
#include "common/order/subscriber.h"
#include "retry/request.h"

/* PERMANENT, with the reason, when no call can be made of the row. */
MUST_USE enum result webhook_check_task(const struct compensation_task *task, struct error *error);

/* The call of a task that webhook_check_task has found good; request_clear it. */
void webhook_create_request(const struct compensation_task *task,
	const struct subscriber *subscriber, uint64_t epoch_s, struct request *request_out);

#endif
