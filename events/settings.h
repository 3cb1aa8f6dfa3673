/*
 * settings - what lapse-events is told by its environment.
 */
#ifndef EVENTS_SETTINGS_H
#define EVENTS_SETTINGS_H

#include <stdint.h>

#include "common/base/settings.h"
#include "common/io/broker.h"
#include "common/io/db.h"
#include "common/service/service.h"

struct events_settings {
	struct service_settings service;
	struct db_settings mysql;
	struct broker_settings amqp;
	char *webhooks_file;
	uint64_t prefetch;
};

extern const struct setting events_settings_table[];

/* Rules between settings; mistakes go into report. */
void events_check_settings(const void *settings, struct settings_report *report);

#endif
