/*
 * counts - the metrics of lapse-gateway.
 */
#ifndef GATEWAY_COUNTS_H
#define GATEWAY_COUNTS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/order/payment.h"
#include "common/service/metrics.h"

enum counts_route {
	COUNTS_ROUTE_CREATE,
	COUNTS_ROUTE_READ,
	COUNTS_ROUTE_CANCEL,
	COUNTS_ROUTE_NOTIFY,
	COUNTS_ROUTE_OTHER, /* what no route takes */
};

/* In the order of the series, which every program has alike; the other two are the console's. */
enum counts_auth {
	COUNTS_AUTH_TOKEN = 1,
	COUNTS_AUTH_SIGNATURE = 3,
};

extern const struct metric_family counts_metrics[];

/* start_us: when its handling began, by clock_now_us. */
void counts_add_request(enum counts_route route, unsigned int status, uint64_t start_us);
void counts_add_payment(enum payment_outcome outcome, bool is_repeated);
void counts_add_auth_failure(enum counts_auth method);

/* What is added from now on counts when it is released, or never. */
void counts_hold(void);
void counts_release(bool are_true);

#endif
