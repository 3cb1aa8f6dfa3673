/*
 * api - the HTTP interface of the product service.
 *
 * POST /v1/stock/restores, /v1/stock/reserves   one movement or a list (see request)
 * GET  /v1/stock?after=SKU, /v1/stock/{sku}     what there is
 * PUT  /v1/stock/{sku}                          {"quantity": 100}
 * GET  /v1/ledger?order_no=A1                   the movements of an order
 * GET  /v1/calls                                counts since the start
 * GET, POST /v1/misbehave                       the switches; {"fail-rate": 0.2, "delay": "50ms"}
 */
#ifndef DEMO_STOCK_API_H
#define DEMO_STOCK_API_H

#include "common/io/httpd.h"
#include "common/service/metrics.h"
#include "demo/shared/misbehave.h"

struct db;

/* The context of the routes; borrowed by the server. */
struct api {
	struct db *db; /* may be disconnected: then answers are 503 */
	struct misbehave misbehave;
};

extern const struct httpd_route api_routes[];
extern const struct metric_family api_metrics[];

#endif
