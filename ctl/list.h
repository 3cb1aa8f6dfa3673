/*
 * list - rows of one kind, with the filters of the console as options.
 */
#ifndef CTL_LIST_H
#define CTL_LIST_H

#include <stddef.h>

#include "common/report/listing.h"
#include "ctl/option.h"

struct session;

#define LIST_PAGE_OPTIONS (OPTION_BIT(OPTION_LIMIT) | OPTION_BIT(OPTION_PLACE))
#define LIST_TASK_OPTIONS                                                                        \
	(LIST_PAGE_OPTIONS | OPTION_BIT(OPTION_STATUS) | OPTION_BIT(OPTION_STATE) |              \
		OPTION_BIT(OPTION_KIND) | OPTION_BIT(OPTION_TARGET) | OPTION_BIT(OPTION_ORDER) | \
		OPTION_BIT(OPTION_ERROR) | OPTION_BIT(OPTION_OLDER_THAN))
#define LIST_ORDER_OPTIONS                                                         \
	(LIST_PAGE_OPTIONS | OPTION_BIT(OPTION_STATE) | OPTION_BIT(OPTION_ORDER) | \
		OPTION_BIT(OPTION_OVERDUE_BY) | OPTION_BIT(OPTION_CLOSED_FROM) |   \
		OPTION_BIT(OPTION_CLOSED_TO) | OPTION_BIT(OPTION_CLOSE_REASON) |   \
		OPTION_BIT(OPTION_SOURCE))
#define LIST_OUTBOX_OPTIONS                                                       \
	(LIST_PAGE_OPTIONS | OPTION_BIT(OPTION_STATE) | OPTION_BIT(OPTION_TYPE) | \
		OPTION_BIT(OPTION_ORDER) | OPTION_BIT(OPTION_OLDER_THAN))
#define LIST_PAYMENT_OPTIONS                                                                \
	(LIST_PAGE_OPTIONS | OPTION_BIT(OPTION_OUTCOME) | OPTION_BIT(OPTION_REFUND_STATE) | \
		OPTION_BIT(OPTION_ORDER) | OPTION_BIT(OPTION_CHANNEL) |                     \
		OPTION_BIT(OPTION_OLDER_THAN))
#define LIST_ALERT_OPTIONS                                                        \
	(LIST_PAGE_OPTIONS | OPTION_BIT(OPTION_STATE) | OPTION_BIT(OPTION_KIND) | \
		OPTION_BIT(OPTION_TARGET))
#define LIST_AUDIT_OPTIONS                                                     \
	(LIST_PAGE_OPTIONS | OPTION_BIT(OPTION_WHO) | OPTION_BIT(OPTION_ACT) | \
		OPTION_BIT(OPTION_TARGET) | OPTION_BIT(OPTION_RESULT) |        \
		OPTION_BIT(OPTION_AT_FROM) | OPTION_BIT(OPTION_AT_TO))

enum {
	LIST_VALUE_MAX = 21
};

/* The filters among the options, as values for a listing; values has room for LIST_VALUE_MAX. */
size_t list_read_values(const struct session *session, struct listing_value *values);

int list_tasks_run(const struct session *session);
int list_orders_run(const struct session *session);
int list_outbox_run(const struct session *session);
int list_payments_run(const struct session *session);
int list_alerts_run(const struct session *session);
int list_audit_run(const struct session *session);

#endif
