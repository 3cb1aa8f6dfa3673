/*
 * payments - POST /v1/payments/notify: the signed notice of a payment channel.
 */
#ifndef GATEWAY_PAYMENTS_H
#define GATEWAY_PAYMENTS_H

#include "common/io/httpd.h"

/* Handler of httpd; context is a struct context. */
void payments_notify(
	void *context, const struct httpd_request *request, struct httpd_answer *answer);

#endif
