/*
 * notice - a signed payment notice: header and body into what payment_apply takes.
 */
#ifndef GATEWAY_NOTICE_H
#define GATEWAY_NOTICE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/result.h"
#include "common/io/httpd.h"
#include "common/order/payment.h"

enum {
	NOTICE_TOLERANCE_S = 300,
	NOTICE_STATE_SIZE = 32,
	NOTICE_MERCHANT_SIZE = 65
};

/*
 * X-Lapse-Signature: t=<unix seconds>,v1=<hex HMAC-SHA256 of "<t>.<body>">, checked in constant time
 * against secret and, when not NULL, secret_old; t at most NOTICE_TOLERANCE_S from now_s.  There may be
 * several v1.  false: forged, stale or no signature.
 */
bool notice_is_signed(const struct httpd_request *request, const char *secret,
	const char *secret_old, uint64_t now_s);

struct notice {
	struct payment_notice payment;
	char state[NOTICE_STATE_SIZE];
	char merchant_id[NOTICE_MERCHANT_SIZE]; /* "" when absent */
};

/* PERMANENT: the body is no notice, in words for the caller. */
MUST_USE enum result notice_read(
	const struct httpd_request *request, struct notice *notice_out, struct error *error);

#endif
