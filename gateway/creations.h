/*
 * creations - POST /v1/orders.
 */
#ifndef GATEWAY_CREATIONS_H
#define GATEWAY_CREATIONS_H

#include "common/io/httpd.h"

struct context;
struct creations;

void creations_create(struct creations **creations_out);
void creations_destroy(struct creations **creations);

/* Handler of httpd; context is a struct context.  In a group it only takes the order. */
void creations_handle(
	void *context, const struct httpd_request *request, struct httpd_answer *answer);
/* Creates what was taken in the group and fills its answers. */
void creations_settle(struct context *context);

#endif
