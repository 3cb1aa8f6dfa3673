/*
 * order_request - the body of POST /v1/orders, and its deadline.
 */
#ifndef GATEWAY_ORDER_REQUEST_H
#define GATEWAY_ORDER_REQUEST_H

#include "common/base/result.h"
#include "common/io/httpd.h"
#include "common/order/creation.h"
#include "gateway/context.h"

/*
 * Fills creation; a timeout that the body does not give comes from the rules.  PERMANENT: the body is
 * not an order, in words for the caller.  TEMPORARY: the rules cannot be read.
 */
MUST_USE enum result order_request_read(const struct context *context,
	const struct httpd_request *request, struct creation *creation, struct error *error);

#endif
