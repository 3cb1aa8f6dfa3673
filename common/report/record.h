/*
 * record - one thing with everything around it, as JSON: what a page or "lapsectl show" tells.
 *
 * task     {"task", "order", "payments", "tasks", "outbox", "audit", "alert", "checks", "requeue"}
 * order    {"order", "items", "timeline", "payments", "tasks", "outbox", "audit", "alert"}
 * outbox   {"outbox", "order", "alert", "audit"}
 * payment  {"payment", "order", "task", "audit"}
 * rule     {"rule", "audit"}
 * alert    {"alert", "audit"}
 * audit    {"audit"}
 *
 * Columns have the names of the database, ids are strings, times are ISO 8601 with Z.  "order" is
 * null when there is none.  timeline: {"at", "what", "ref", "detail", "gap_ms"} in order of time;
 * gap_ms is the time since the entry before, null for the first.  checks: the three questions
 * before a task is resolved, {"order_is_final", "no_open_sibling", "refund_has_reference"}.
 */
#ifndef COMMON_REPORT_RECORD_H
#define COMMON_REPORT_RECORD_H

#include <stdbool.h>

#include "common/base/result.h"

struct db;
struct json;

/* task, order, outbox, payment, rule, alert, audit; ended by NULL. */
extern const char *const record_kind_names[];

/*
 * A few statements, not one moment.  id is the order number of an order, "channel:trade_no" or the
 * id of a payment, else an id.  Lists inside end after 200 rows.  user_id is "***" unless
 * is_unmasked.  NONE with words: there is no such thing.  PERMANENT with words: it can be no id, or
 * there is no such kind.  The caller owns the JSON.
 */
MUST_USE enum result record_read(struct db *db, const char *kind, const char *id, bool is_unmasked,
	struct json **json_out, struct error *error);

#endif
