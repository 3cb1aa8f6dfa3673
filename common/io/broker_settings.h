/*
 * broker_settings - how to reach the broker, read and checked before anything is opened.
 */
#ifndef COMMON_IO_BROKER_SETTINGS_H
#define COMMON_IO_BROKER_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/settings.h"

struct broker_settings {
	char *url;             /* amqp[s]://user:pass@host:port/vhost[?ca=FILE] */
	char *prefix;          /* in front of every exchange and queue */
	uint64_t heartbeat_ms; /* whole seconds */
};

/* LAPSE_AMQP_URL (not required by this table), LAPSE_AMQP_PREFIX, LAPSE_AMQP_HEARTBEAT. */
extern const struct setting broker_settings_table[];

/* Adds lines to report when URL or prefix cannot be used; is_required: also when it is unset. */
void broker_check_settings(
	const struct broker_settings *settings, bool is_required, struct settings_report *report);

#endif
