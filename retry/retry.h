/*
 * retry - lapse-retry: runs the compensation table and delivers the alerts.
 *
 * One turn settles the answers that have arrived, delivers alerts, claims tasks for the free
 * places, starts their calls and waits for news.  No transaction is open during a call.
 */
#ifndef RETRY_RETRY_H
#define RETRY_RETRY_H

#include <stdint.h>

#include "common/io/db.h"
#include "common/report/alert_target.h"
#include "common/service/service.h"

struct retry;

struct retry_settings {
	struct service_settings service;
	struct db_settings db;
	char *stock_url;
	uint64_t stock_batch;
	int stock_success; /* enum answer_success */
	char *refund_url;
	char *webhooks_file;
	uint64_t http_timeout_ms;
	uint64_t http_concurrency;
	uint64_t retry_max;
	uint64_t retry_base_ms;
	uint64_t retry_cap_ms;
	uint64_t retry_interval_ms;
	uint64_t lease_ms;
	struct alert_target_list alert_targets;
	uint64_t alert_group_wait_ms;
	uint64_t alert_repeat_ms; /* 0: never */
	char *env_label;
	int language; /* enum alert_language */
	char *console_url;
	char *runbook_url;
};

extern const struct service_program retry_program;

/* Allocates only.  Borrows settings, which must live longer. */
void retry_create(const struct retry_settings *settings, struct retry **retry_out);
void retry_destroy(struct retry **retry);
/* One turn; context is a struct retry. */
MUST_USE enum result retry_step(void *context, struct error *error);

#endif
