/*
 * snapshot_queues - the parts of a snapshot that come from the broker: ready messages and consumers
 * by passive declares, unacked messages from its page of metrics.
 */
#ifndef COMMON_REPORT_SNAPSHOT_QUEUES_H
#define COMMON_REPORT_SNAPSHOT_QUEUES_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/result.h"
#include "common/order/topology.h"
#include "common/report/snapshot_figures.h"

struct broker_settings;
struct snapshot_queues;

/* Borrows all, which must live longer.  metrics_url may be NULL. */
void snapshot_queues_create(const struct broker_settings *amqp,
	const struct topology_settings *topology, const char *metrics_url,
	struct snapshot_queues **queues_out);
void snapshot_queues_destroy(struct snapshot_queues **queues);

/* Connects when needed and asks for every queue.  NONE: there is no broker to ask; the text says
 * so. */
MUST_USE enum result snapshot_queues_read(
	struct snapshot_queues *queues, struct snapshot_figures *figures, struct error *error);

/* Serves heartbeats, for the time between two reads. */
void snapshot_queues_keep_alive(struct snapshot_queues *queues);

/* Starts asking for unacked messages, which goes on beside everything else. */
void snapshot_queues_ask_unacked(struct snapshot_queues *queues);
/* Has the answer come, or will none come?  Waits up to wait_ms for it. */
bool snapshot_queues_is_answered(struct snapshot_queues *queues, uint64_t wait_ms);
/* What came, into the queues of figures.  NONE: nobody was to be asked. */
MUST_USE enum result snapshot_queues_take_unacked(
	struct snapshot_queues *queues, struct snapshot_figures *figures, struct error *error);

#endif
