/*
 * lookout - the console's view of the fleet: takes snapshots, exports them as metrics while it
 * leads, and then raises and resolves threshold alerts for sites without Prometheus.
 */
#ifndef CONSOLE_LOOKOUT_H
#define CONSOLE_LOOKOUT_H

#include <stdint.h>

#include "common/report/snapshot.h"
#include "console/thresholds.h"

struct lookout;

/* All borrowed, must live longer. */
struct lookout_settings {
	struct snapshot_settings snapshot;
	enum thresholds_mode thresholds; /* LAPSE_ALERT_THRESHOLDS */
};

/* Allocates, and registers the fleet-wide metric families: after service_begin. */
void lookout_create(const struct lookout_settings *settings, struct lookout **lookout_out);
void lookout_destroy(struct lookout **lookout);

/* To be called in every turn of the loop; gives the milliseconds until it wants to be called again,
 * 0: at once.  Never fails: trouble is logged and stands in the figures. */
uint64_t lookout_work(struct lookout *lookout);
const struct snapshot *lookout_snapshot(const struct lookout *lookout);
/* What the console saw of the processes, for the rules about them; copied. */
void lookout_note_fleet(struct lookout *lookout, const struct thresholds_fleet *fleet);

#endif
