/*
 * close_report - says in metrics, log and alerts what closing orders did; for every program that
 * closes.
 */
#ifndef COMMON_REPORT_CLOSE_REPORT_H
#define COMMON_REPORT_CLOSE_REPORT_H

#include <stddef.h>

#include "common/base/result.h"
#include "common/order/close.h"

struct db;

/* Makes the families of closes part of this program's metrics; call once, at create. */
void close_report_register(void);

/* Counts one call of close_orders: outcomes, lateness, repeats, time.  Violations are logged.
 * count 0: the call failed, and no order has an outcome. */
void close_report_count(
	const struct close_request *request, const struct close_order *orders, size_t count);

/* One ORDER_STUCK alert for each FAILED order, and one error line. */
MUST_USE enum result close_report_alert(
	struct db *db, const struct close_order *orders, size_t count, struct error *error);

#endif
