/*
 * gauges - the fleet-wide metrics: exported by the one console that leads, from its snapshots.
 */
#ifndef CONSOLE_GAUGES_H
#define CONSOLE_GAUGES_H

#include <stdbool.h>

#include "common/order/topology_queues.h"
#include "common/report/snapshot_figures.h"

/* Makes the families part of this program's metrics; none of their series is there yet. */
void gauges_register(const struct topology_queue *queues, size_t queue_count);
/* Exports what is known and takes away what is not; everything when it does not lead. */
void gauges_update(const struct snapshot_figures *figures, bool is_leader);

#endif
