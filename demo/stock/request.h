/*
 * request - the bodies of restores and reserves, one movement or a list of them, and the answers.
 */
#ifndef DEMO_STOCK_REQUEST_H
#define DEMO_STOCK_REQUEST_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/result.h"
#include "demo/stock/ledger.h"

struct httpd_answer;
struct httpd_request;

struct request {
	struct ledger_move *moves;
	size_t count;
	bool is_batch;
};

/* Codes in the answers; 0 is success. */
enum request_code {
	REQUEST_CODE_OK = 0,
	REQUEST_CODE_SHORT = 1,
	REQUEST_CODE_UNKNOWN_SKU = 2,
	REQUEST_CODE_REUSED = 3,
	REQUEST_CODE_REFUSED = 9, /* for no reason at all */
};

/*
 * A single movement {"idempotency_key", "order_no", "sku_id", "quantity"}, whose key must equal the
 * header Idempotency-Key, or {"<list_name>": [movement, ...]}.  PERMANENT with the reason when it
 * is neither.  request_clear in any case.
 */
MUST_USE enum result request_read(const struct httpd_request *http, const char *list_name,
	struct request *request_out, struct error *error);
void request_clear(struct request *request);

/* What became of the movements: for a single one in the status and the code, for a list one code
 * per key.  A movement that is still OPEN was not tried. */
void request_answer_outcomes(struct httpd_answer *answer, const struct request *request);

#endif
