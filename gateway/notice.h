/*
 * notice - a signed payment notice: header and body into what payment_apply takes.
 */
#ifndef GATEWAY_NOTICE_H
#define GATEWAY_NOTICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/result.h"
#include "common/order/payment.h"

enum {
	NOTICE_TOLERANCE_S = 300,
	NOTICE_STATE_SIZE = 32 + 1,
	NOTICE_MERCHANT_SIZE = 64 + 1
};

/* Two secrets are good while one takes the place of the other. */
struct notice_secrets {
	const char *current;
	const char *old; /* NULL: none */
};

/*
 * header is X-Lapse-Signature: t=<unix seconds>,v1=<hex HMAC-SHA256 of "<t>.<body>">, NULL when
 * there is none; t is at most NOTICE_TOLERANCE_S from now_s.  There may be several v1.  Compared in
 * constant time.  false: forged, stale or no signature.
 */
bool notice_is_signed(const char *header, const char *body, size_t body_size,
	const struct notice_secrets *secrets, uint64_t now_s);

struct notice {
	bool is_paid;                           /* only then it is a payment: */
	struct payment_notice payment;          /* else what is there of it, for the log */
	char state[NOTICE_STATE_SIZE];          /* cut */
	char merchant_id[NOTICE_MERCHANT_SIZE]; /* "" when absent */
};

/* PERMANENT: the body is no notice, in words for the caller. */
MUST_USE enum result notice_read(
	const char *body, size_t body_size, struct notice *notice_out, struct error *error);

#endif
