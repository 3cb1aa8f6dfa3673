/*
 * settings - what lapse-consumer is told by its environment.
 */
#ifndef CONSUMER_SETTINGS_H
#define CONSUMER_SETTINGS_H

#include <stdint.h>

#include "common/base/settings.h"
#include "common/io/broker.h"
#include "common/io/db.h"
#include "common/order/topology.h"
#include "common/service/service.h"

struct consumer_settings {
	struct service_settings service;
	struct db_settings mysql;
	struct broker_settings amqp;
	struct topology_settings topology;
	uint64_t prefetch;
	uint64_t batch;
	uint64_t linger_ms;
	uint64_t hold_ms;
};

extern const struct setting consumer_settings_table[];

/* Rules between settings; mistakes go into report. */
void consumer_check_settings(const void *settings, struct settings_report *report);

#endif
