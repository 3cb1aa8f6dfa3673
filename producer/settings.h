/*
 * settings - what lapse-producer is told by its environment and its command line.
 */
#ifndef PRODUCER_SETTINGS_H
#define PRODUCER_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/settings.h"
#include "common/io/broker.h"
#include "common/io/db.h"
#include "common/order/topology.h"
#include "common/service/service.h"

/* lapse-producer publish ORDER_NO... | --stdin */
struct producer_publish {
	bool is_wanted;
	bool reads_stdin;
	const char **order_nos; /* borrowed from the command line */
	size_t count;
};

struct producer_settings {
	struct service_settings service;
	struct db_settings mysql;
	struct broker_settings amqp;
	struct topology_settings topology;
	uint64_t window;
	uint64_t interval_ms;
	uint64_t lease_ms;
	int created_event; /* 1: order.created is published, too */
	char *env_label;
	struct producer_publish publish;
};

extern const struct setting producer_settings_table[];

/* Rules between settings; mistakes go into report. */
void producer_check_settings(const void *settings, struct settings_report *report);
/* One word of the command line; false: not ours. */
bool producer_take_argument(void *settings, const char *argument);
void producer_clear_arguments(struct producer_settings *settings);

#endif
