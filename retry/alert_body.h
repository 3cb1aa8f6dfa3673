/*
 * alert_body - the message about a group of alerts: Alertmanager's webhook, version 4.
 */
#ifndef RETRY_ALERT_BODY_H
#define RETRY_ALERT_BODY_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/compiler.h"
#include "common/order/alert.h"

enum {
	ALERT_BODY_ID_SIZE = 4 + 16 + 1,
	ALERT_BODY_FINGERPRINT_SIZE = 16 + 1,
};

/* What the message says about where it comes from; all may be NULL but env. */
struct alert_origin {
	const char *env;
	const char *console_url;
	const char *runbook_url;
};

/* Alerts of one group are told in one message: the same kind, and the same label kind. */
bool alert_body_is_same_group(const struct alert_row *one, const struct alert_row *other);

/* rows: 1 or more of one group.  Owned by the caller. */
MUST_USE char *alert_body_write(const struct alert_row *const *rows, size_t count,
	const char *receiver, const struct alert_origin *origin);

/* "msg_<16 digits>": the same for the same rows in the same state, so also when sent again. */
void alert_body_format_id(const struct alert_row *const *rows, size_t count, const char *receiver,
	char id[ALERT_BODY_ID_SIZE]);
/* FNV-1a 64 over "<kind>\n<ref>", in hexadecimal digits. */
void alert_body_format_fingerprint(
	const struct alert_row *row, char digits[ALERT_BODY_FINGERPRINT_SIZE]);

#endif
