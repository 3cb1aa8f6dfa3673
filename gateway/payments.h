/*
 * payments - POST /v1/payments/notify: the signed notice of a payment channel.
 */
#ifndef GATEWAY_PAYMENTS_H
#define GATEWAY_PAYMENTS_H

#include "common/io/httpd.h"

struct context;
struct payments;

void payments_create(struct payments **payments_out);
void payments_destroy(struct payments **payments);

/* Handler of httpd; context is a struct context.  In a group it only takes the notice. */
void payments_notify(
	void *context, const struct httpd_request *request, struct httpd_answer *answer);
/* Applies what was taken in the group and fills its answers. */
void payments_settle(struct context *context);

#endif
