/*
 * alert_message - one message to one target as an HTTP request: address, headers, body, signed the
 * way the target wants it.
 */
#ifndef COMMON_REPORT_ALERT_MESSAGE_H
#define COMMON_REPORT_ALERT_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/report/alert_news.h"
#include "common/report/alert_target.h"

enum {
	ALERT_TIME_LIMIT_MS = 10000, /* of one message */
	ALERT_RENEWAL_S = 60,        /* Alertmanager is told again what fires */
	ALERT_RENEWAL_AHEAD_S = 240, /* and believes it for so long */
};

/* How much a target takes. */
struct alert_pace {
	uint32_t burst;          /* messages at once; burst and a minute's worth stay below */
	uint32_t per_minute;     /* the limit of the service */
	size_t rows_max;         /* alerts told in one message; what is left follows */
	bool avoids_half_hours;  /* when everybody's robots speak */
	bool takes_whole_groups; /* all that fires in one message, renewed */
};

const struct alert_pace *alert_message_pace(enum alert_type type);

struct alert_message;

/* Never fails; the caller owns it.  epoch_ms is for signatures. */
void alert_message_create(const struct alert_target *target, const struct alert_news *news,
	uint64_t epoch_ms, struct alert_message **message_out);
/* Wipes what was secret. */
void alert_message_destroy(struct alert_message **message);

/* Borrowed until the message is destroyed. */
const char *alert_message_url(const struct alert_message *message);
const char *alert_message_body(const struct alert_message *message);
/* Ended by NULL. */
const char *const *alert_message_headers(const struct alert_message *message);

#endif
