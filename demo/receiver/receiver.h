/*
 * receiver - lapse-receiver: the services that Lapse tells and asks, for demo and tests.  It takes
 * webhooks and carries each out once, gives refunds once, and misbehaves on request.
 *
 * POST /hooks/{subscriber}         a signed event
 * GET  /v1/effects[?order_no=A1]   counts by hook; what came about an order, in its order
 * POST /v1/refunds                 a refund of the contract
 * GET  /v1/refunds[?order_no=A1][&after=1000]
 * GET, POST /v1/misbehave          the switches; for fail-sku the name of a hook, or a channel
 *
 * It keeps everything in memory and forgets it when it ends.
 */
#ifndef DEMO_RECEIVER_RECEIVER_H
#define DEMO_RECEIVER_RECEIVER_H

#include "common/base/result.h"
#include "common/service/service.h"
#include "demo/shared/serving.h"

struct receiver;

struct receiver_settings {
	struct service_settings service;
	char *webhooks_file;
	struct serving serving; /* from the command line */
};

extern const struct service_program receiver_program;

/* Listens.  Borrows settings. */
MUST_USE enum result receiver_create(const struct receiver_settings *settings,
	struct receiver **receiver_out, struct error *error);
enum result receiver_step(void *context, struct error *error);
void receiver_destroy(struct receiver **receiver);

#endif
