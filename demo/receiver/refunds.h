/*
 * refunds - POST /v1/refunds as the contract has it: money goes back once for each key.
 */
#ifndef DEMO_RECEIVER_REFUNDS_H
#define DEMO_RECEIVER_REFUNDS_H

#include "common/base/result.h"
#include "common/base/text.h"
#include "common/io/httpd.h"

struct book;
struct json;

struct refund {
	char key[TEXT_IDEMPOTENCY_KEY_SIZE];
	char channel[TEXT_KEY_SIZE];
	char trade_no[TEXT_KEY_SIZE];
	char order_no[TEXT_KEY_SIZE];
	char currency[4];
	int64_t amount_cents;
};

/* The body, whose key must equal the header Idempotency-Key; PERMANENT with the reason. */
MUST_USE enum result refunds_read(
	const struct httpd_request *request, struct refund *refund_out, struct error *error);
/* Gives the money back, or has done so before; answers. */
void refunds_give_back(struct book *book, const struct refund *refund, struct httpd_answer *answer);

/* All behind number after, at most 1000; order_no (may be NULL): only those of this order. */
MUST_USE struct json *refunds_describe(const struct book *book, const char *order_no, size_t after);

#endif
