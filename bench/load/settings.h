/*
 * settings - where the broker is, for the programs of the benchmark.
 */
#ifndef BENCH_LOAD_SETTINGS_H
#define BENCH_LOAD_SETTINGS_H

#include "common/io/broker.h"
#include "common/order/topology.h"

struct load_settings {
	struct broker_settings amqp;
	struct topology_settings topology;
};

/* From the environment; leaves with EXIT_STATUS_CONFIGURATION when something is wrong. */
void load_settings_read(struct load_settings *settings);
void load_settings_clear(struct load_settings *settings);

#endif
