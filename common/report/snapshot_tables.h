/*
 * snapshot_tables - the parts of a snapshot that come from MySQL: one bounded statement each,
 * except for the invariants.
 */
#ifndef COMMON_REPORT_SNAPSHOT_TABLES_H
#define COMMON_REPORT_SNAPSHOT_TABLES_H

#include <stdint.h>

#include "common/base/result.h"
#include "common/report/snapshot_figures.h"

struct db;

struct snapshot_limits {
	uint64_t overdue_grace_ms;
	uint64_t sweep_interval_ms;
	uint64_t retention_ms;
	uint64_t lease_ms;
};

/* Reads one part (any but QUEUES and UNACKED) over a connected db.  After a failure the figures of
 * the part are not to be used. */
MUST_USE enum result snapshot_tables_read(struct db *db, enum snapshot_part part,
	const struct snapshot_limits *limits, struct snapshot_figures *figures,
	struct error *error);

#endif
