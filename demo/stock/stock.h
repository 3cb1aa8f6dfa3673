/*
 * stock - lapse-stock: a product service for demo, tests and measurements.  Gives stock back and
 * takes it once per idempotency key, and misbehaves on request.
 */
#ifndef DEMO_STOCK_STOCK_H
#define DEMO_STOCK_STOCK_H

#include "common/base/result.h"
#include "common/io/db.h"
#include "common/service/service.h"
#include "demo/shared/serving.h"

struct stock;

struct stock_settings {
	struct service_settings service;
	struct db_settings db;
	struct serving serving; /* from the command line */
	uint32_t fill_skus;     /* that exist from the start; 0: none */
	uint32_t fill_quantity; /* of each */
};

extern const struct service_program stock_program;

/* Listens, and connects to nobody.  Borrows settings. */
MUST_USE enum result stock_create(
	const struct stock_settings *settings, struct stock **stock_out, struct error *error);
enum result stock_step(void *context, struct error *error);
void stock_destroy(struct stock **stock);

#endif
