/*
 * order_request - the body of POST /v1/orders.
 */
#ifndef GATEWAY_ORDER_REQUEST_H
#define GATEWAY_ORDER_REQUEST_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/result.h"
#include "common/order/creation.h"
#include "common/order/rule.h"

struct order_request {
	struct creation creation;
	bool has_own_timeout; /* else the rules say it, by the attributes */
	struct rule_attributes attributes;
};

/* PERMANENT: the body is not an order, in words for the caller. */
MUST_USE enum result order_request_read(
	const char *body, size_t body_size, struct order_request *request_out, struct error *error);

/* Keeps a W3C trace context; anything else is left out, not refused: it is only for tracing. */
void order_request_set_trace(struct order_request *request, const char *trace_parent);

#endif
