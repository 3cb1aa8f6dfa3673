/* Lists of what a shop knows: orders and payments. */
#include <strings.h>

#include "common/base/compiler.h"
#include "common/report/listing_kind.h"

static const char key_form[] = "letters, digits and . _ : -";
static const char duration_form[] = "a duration such as 90s, 5m, 2h or 7d";
static const char time_form[] = "a time in UTC such as 2026-01-31T18:30:00Z";

static const struct listing_order by_id = { "", LISTING_KEY_ID, "t.id", "id", true };
static const struct listing_order newest_first = { " FORCE INDEX (PRIMARY)", LISTING_KEY_ID, "t.id",
	"id", true };

/* ---- orders */

/* Of a close by timeout, or of an order that should be closed by now. */
#define LATENESS                                                              \
	"CAST(CASE WHEN x.close_reason = 'TIMEOUT' THEN "                     \
	"TIMESTAMPDIFF(MICROSECOND, x.expire_time, x.close_time) DIV 1000 "   \
	"WHEN x.status = 'UNPAID' AND x.expire_time < UTC_TIMESTAMP(3) THEN " \
	"TIMESTAMPDIFF(MICROSECOND, x.expire_time, UTC_TIMESTAMP(3)) DIV 1000 END AS CHAR)"
#define IS_OVERDUE                                                                          \
	"IF(x.status = 'UNPAID' AND x.expire_time < UTC_TIMESTAMP(3) - INTERVAL 5 SECOND, " \
	"'1', '0')"
#define HAS(table, column, value)                                                         \
	"IF(EXISTS(SELECT 1 FROM " table " p WHERE p.order_no = x.order_no AND p." column \
	" = '" value "'), '1', '0')"
static const struct listing_column order_columns[] = {
	LISTING_TEXT_COLUMN(order_no),
	LISTING_WORD_COLUMN(status),
	LISTING_TIME_COLUMN(created_at),
	LISTING_TIME_COLUMN(expire_time),
	LISTING_TIME_COLUMN(pay_time),
	LISTING_TIME_COLUMN(close_time),
	LISTING_OTHER_COLUMN("lateness_ms", NUMBER, LATENESS),
	LISTING_WORD_COLUMN(close_reason),
	LISTING_WORD_COLUMN(close_source),
	LISTING_NUMBER_COLUMN(amount_cents),
	LISTING_TEXT_COLUMN(currency),
	LISTING_OTHER_COLUMN("is_overdue", BOOL, IS_OVERDUE),
	LISTING_OTHER_COLUMN("has_late_payment", BOOL, HAS("t_payment", "outcome", "LATE")),
	LISTING_OTHER_COLUMN("has_dead_task", BOOL, HAS("t_compensation", "status", "DEAD")),
	LISTING_ID_COLUMN(id),
};

static const char *const order_states[] = { "UNPAID", "PAID", "CLOSED", "all", NULL };
static const char *const close_reasons[] = { "TIMEOUT", "USER_CANCEL", "OPERATOR", NULL };
static const char *const close_sources[] = { "message", "sweep", "api", "console", NULL };

enum order_filter {
	ORDER_FILTER_ORDER,
	ORDER_FILTER_STATE,
	ORDER_FILTER_OVERDUE_BY,
	ORDER_FILTER_CLOSED_FROM,
	ORDER_FILTER_CLOSED_TO,
	ORDER_FILTER_REASON,
	ORDER_FILTER_SOURCE,
	ORDER_FILTER_COUNT,
};
static const struct listing_filter order_filters[] = {
	[ORDER_FILTER_ORDER] = { "order", "an order number, or the beginning of one and *", NULL },
	[ORDER_FILTER_STATE] = { "state", "a state", order_states },
	[ORDER_FILTER_OVERDUE_BY] = { "overdue_by", duration_form, NULL },
	[ORDER_FILTER_CLOSED_FROM] = { "closed_from", time_form, NULL },
	[ORDER_FILTER_CLOSED_TO] = { "closed_to", time_form, NULL },
	[ORDER_FILTER_REASON] = { "reason", "a reason", close_reasons },
	[ORDER_FILTER_SOURCE] = { "source", "a source", close_sources },
};
static const struct listing_condition order_conditions[] = {
	[ORDER_FILTER_ORDER] = { LISTING_FORM_PREFIX, "t.order_no = ?",
		"t.order_no LIKE ? ESCAPE '|'", NULL, "order" },
	[ORDER_FILTER_STATE] = { LISTING_FORM_WORD, "t.status = ?", NULL, NULL, "status" },
	[ORDER_FILTER_OVERDUE_BY] = { LISTING_FORM_DURATION,
		"t.status = 'UNPAID' AND "
		"t.expire_time <= UTC_TIMESTAMP(3) - INTERVAL ? MICROSECOND",
		NULL, NULL, "overdue by" },
	[ORDER_FILTER_CLOSED_FROM] = { LISTING_FORM_TIME, "t.close_time >= CAST(? AS DATETIME(3))",
		NULL, NULL, "closed from" },
	[ORDER_FILTER_CLOSED_TO] = { LISTING_FORM_TIME, "t.close_time < CAST(? AS DATETIME(3))",
		NULL, NULL, "closed before" },
	[ORDER_FILTER_REASON] = { LISTING_FORM_WORD, "t.close_reason = ?", NULL, NULL, "reason" },
	[ORDER_FILTER_SOURCE] = { LISTING_FORM_WORD, "t.close_source = ?", NULL, NULL, "source" },
};
_Static_assert(ARRAY_LENGTH(order_filters) == ORDER_FILTER_COUNT &&
		       ARRAY_LENGTH(order_conditions) == ORDER_FILTER_COUNT,
	"each filter has its condition");

static const struct listing_order orders_by_number = { " FORCE INDEX (uk_order_no)",
	LISTING_KEY_TEXT, "t.order_no", "order_no", false };
static const struct listing_order orders_by_deadline = { " FORCE INDEX (idx_status_expire)",
	LISTING_KEY_TIME, "t.expire_time", "expire_time", false };
static const struct listing_order orders_by_close = { " FORCE INDEX (idx_close_time)",
	LISTING_KEY_TIME, "t.close_time", "close_time", true };

static size_t plan_orders(const struct listing_given *given,
	struct listing_stage stages[LISTING_STAGE_MAX], const char **words_out)
{
	static const enum order_filter of_closes[] = { ORDER_FILTER_CLOSED_FROM,
		ORDER_FILTER_CLOSED_TO, ORDER_FILTER_REASON, ORDER_FILTER_SOURCE };
	const char *state = given->values[ORDER_FILTER_STATE];
	bool is_about_closes = state != NULL && strcasecmp(state, "CLOSED") == 0;

	(void)words_out;
	for (size_t i = 0; i < ARRAY_LENGTH(of_closes); i++)
		is_about_closes = is_about_closes || given->values[of_closes[i]] != NULL;
	stages[0] = (struct listing_stage){ "", &newest_first };
	if (given->values[ORDER_FILTER_ORDER] != NULL)
		stages[0].order = &orders_by_number;
	else if (given->values[ORDER_FILTER_OVERDUE_BY] != NULL)
		stages[0].order = &orders_by_deadline;
	else if (is_about_closes)
		stages[0] =
			(struct listing_stage){ " AND t.close_time IS NOT NULL", &orders_by_close };
	return 1;
}

const struct listing_kind listing_orders = {
	.name = "orders",
	.table = "t_order",
	.columns = order_columns,
	.column_count = ARRAY_LENGTH(order_columns),
	.filters = order_filters,
	.conditions = order_conditions,
	.filter_count = ORDER_FILTER_COUNT,
	.plan = plan_orders,
};

/* ---- payments */

#define BEHIND_DEADLINE                                                                     \
	"(SELECT CAST(TIMESTAMPDIFF(MICROSECOND, o.expire_time, x.created_at) DIV 1000 AS " \
	"CHAR) FROM t_order o WHERE o.order_no = x.order_no)"
#define REFUND_TASK(column)                                                                 \
	"(SELECT CAST(c." column " AS CHAR) FROM t_compensation c WHERE c.idempotency_key " \
	"= CONCAT('refund:', x.channel, ':', x.trade_no))"
static const struct listing_column payment_columns[] = {
	LISTING_ID_COLUMN(id),
	LISTING_TEXT_COLUMN(order_no),
	LISTING_TEXT_COLUMN(channel),
	LISTING_TEXT_COLUMN(trade_no),
	LISTING_NUMBER_COLUMN(amount_cents),
	LISTING_TEXT_COLUMN(currency),
	LISTING_WORD_COLUMN(outcome),
	LISTING_WORD_COLUMN(refund_state),
	LISTING_TIME_COLUMN(created_at),
	LISTING_OTHER_COLUMN("behind_deadline_ms", NUMBER, BEHIND_DEADLINE),
	LISTING_OTHER_COLUMN("refund_task", ID, REFUND_TASK("id")),
	LISTING_OTHER_COLUMN("refund_task_status", TEXT, REFUND_TASK("status")),
};

static const char *const outcomes[] = { "APPLIED", "LATE", "DUPLICATE", "MISMATCH", "UNKNOWN_ORDER",
	"all", NULL };
static const char *const refund_states[] = { "NONE", "PENDING", "DONE", "FAILED", "all", NULL };

enum payment_filter {
	PAYMENT_FILTER_OUTCOME,
	PAYMENT_FILTER_REFUND_STATE,
	PAYMENT_FILTER_ORDER,
	PAYMENT_FILTER_CHANNEL,
	PAYMENT_FILTER_OLDER_THAN,
	PAYMENT_FILTER_COUNT,
};
static const struct listing_filter payment_filters[] = {
	[PAYMENT_FILTER_OUTCOME] = { "outcome", "an outcome", outcomes },
	[PAYMENT_FILTER_REFUND_STATE] = { "refund_state", "a state", refund_states },
	[PAYMENT_FILTER_ORDER] = { "order", key_form, NULL },
	[PAYMENT_FILTER_CHANNEL] = { "channel", key_form, NULL },
	[PAYMENT_FILTER_OLDER_THAN] = { "older_than", duration_form, NULL },
};
static const struct listing_condition payment_conditions[] = {
	[PAYMENT_FILTER_OUTCOME] = { LISTING_FORM_WORD, "t.outcome = ?", NULL, NULL, "outcome" },
	[PAYMENT_FILTER_REFUND_STATE] = { LISTING_FORM_WORD, "t.refund_state = ?", NULL, NULL,
		"refund" },
	[PAYMENT_FILTER_ORDER] = { LISTING_FORM_KEY, "t.order_no = ?", NULL, NULL, "order" },
	[PAYMENT_FILTER_CHANNEL] = { LISTING_FORM_KEY, "t.channel = ?", NULL, NULL, "channel" },
	[PAYMENT_FILTER_OLDER_THAN] = { LISTING_FORM_DURATION,
		"t.created_at < UTC_TIMESTAMP(3) - INTERVAL ? MICROSECOND", NULL, NULL,
		"older than" },
};
_Static_assert(ARRAY_LENGTH(payment_filters) == PAYMENT_FILTER_COUNT &&
		       ARRAY_LENGTH(payment_conditions) == PAYMENT_FILTER_COUNT,
	"each filter has its condition");

/* Refunds that are open or have failed are few among all payments. */
static const struct listing_order payments_by_refund = { " FORCE INDEX (idx_refund_state)",
	LISTING_KEY_ID, "t.id", "id", true };

static size_t plan_payments(const struct listing_given *given,
	struct listing_stage stages[LISTING_STAGE_MAX], const char **words_out)
{
	const char *refund_state = given->values[PAYMENT_FILTER_REFUND_STATE];

	(void)words_out;
	stages[0] = (struct listing_stage){ "", &newest_first };
	if (given->values[PAYMENT_FILTER_ORDER] != NULL)
		stages[0].order = &by_id;
	else if (refund_state != NULL && (strcasecmp(refund_state, "PENDING") == 0 ||
						 strcasecmp(refund_state, "FAILED") == 0))
		stages[0].order = &payments_by_refund;
	return 1;
}

const struct listing_kind listing_payments = {
	.name = "payments",
	.table = "t_payment",
	.columns = payment_columns,
	.column_count = ARRAY_LENGTH(payment_columns),
	.filters = payment_filters,
	.conditions = payment_conditions,
	.filter_count = PAYMENT_FILTER_COUNT,
	.plan = plan_payments,
};
