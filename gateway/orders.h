/*
 * orders - GET /v1/orders/{order_no}, POST /v1/orders/{order_no}/cancel.
 */
#ifndef GATEWAY_ORDERS_H
#define GATEWAY_ORDERS_H

#include "common/io/httpd.h"

struct context;
struct db;

/* Handlers of httpd; context is a struct context. */
void orders_read(void *context, const struct httpd_request *request, struct httpd_answer *answer);
void orders_cancel(void *context, const struct httpd_request *request, struct httpd_answer *answer);

/* Answers with the order as it is now, or that there is none. */
void orders_answer(
	struct context *context, struct db *db, const char *order_no, struct httpd_answer *answer);

#endif
