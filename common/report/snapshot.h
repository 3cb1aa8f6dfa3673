/*
 * snapshot - the figures of the whole fleet, taken anew every 10 s (± 1 s): from the tables, with
 * ages by MySQL's clock, and from the broker, by asking for its queues.
 *
 * Taken part by part over connections of its own; every statement is bounded and has a time limit.
 * A part that fails is unknown and says why, and the others go on.  A part that was slow comes less
 * often, so that it never takes more than a twentieth of the time.
 *
 * Of all snapshots of one schema one leads: it holds GET_LOCK('lapse.snapshot.<schema>'), which
 * lives and dies with its connection.
 */
#ifndef COMMON_REPORT_SNAPSHOT_H
#define COMMON_REPORT_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/result.h"
#include "common/report/snapshot_figures.h"

struct broker_settings;
struct db;
struct db_settings;
struct snapshot;
struct topology_settings;

/* All borrowed, must live longer. */
struct snapshot_settings {
	const struct db_settings *mysql;
	const struct broker_settings *amqp; /* url NULL: queues are unknown */
	const struct topology_settings *topology;
	const char *amqp_metrics_url; /* LAPSE_AMQP_METRICS_URL; NULL: unacked is unknown */
	uint64_t overdue_grace_ms;    /* LAPSE_OVERDUE_GRACE */
	uint64_t sweep_interval_ms;   /* LAPSE_SWEEP_INTERVAL, for the promise of two intervals */
	uint64_t retention_ms;        /* LAPSE_RETENTION */
	uint64_t lease_ms;            /* LAPSE_LEASE */
	/* Called between the statements of a long check, at most twice a second, so that the loop
	 * can note a turn and serve its door.  Must not use the snapshot.  May be NULL. */
	void (*serve)(void *context);
	void *context;
};

/* Allocates only. */
void snapshot_create(const struct snapshot_settings *settings, struct snapshot **snapshot_out);
void snapshot_destroy(struct snapshot **snapshot);

/*
 * To be called in every turn of the loop: does at most one part of what is due and returns, after
 * how many milliseconds it wants to be called again; 0: more parts are due now.  Never fails:
 * trouble stands in the figures.  true in is_new_out: a snapshot has just been completed.
 */
uint64_t snapshot_work(struct snapshot *snapshot, bool *is_new_out);

/* The last complete snapshot, valid until the next one is; number 0: there is none yet. */
const struct snapshot_figures *snapshot_figures(const struct snapshot *snapshot);
/* Age of the figures on this machine's monotonic clock; UINT64_MAX: there are none. */
uint64_t snapshot_age_ms(const struct snapshot *snapshot);
/* Does it lead?  Known anew with every snapshot. */
bool snapshot_is_leader(const struct snapshot *snapshot);
/* The connection that holds the lock: what the leader writes over it is written by the leader. */
struct db *snapshot_db(struct snapshot *snapshot);

#endif
