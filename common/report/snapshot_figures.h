/*
 * snapshot_figures - what a snapshot of the fleet holds: plain data.
 *
 * A figure may be used only when its part is known.  Ages are in milliseconds, 0 when there is
 * nothing to be old.
 */
#ifndef COMMON_REPORT_SNAPSHOT_FIGURES_H
#define COMMON_REPORT_SNAPSHOT_FIGURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/order/backlog.h"
#include "common/order/invariant.h"
#include "common/order/payment.h"
#include "common/order/topology.h"
#include "common/order/topology_queues.h"

enum snapshot_part {
	SNAPSHOT_PART_CLOCK,
	SNAPSHOT_PART_WAITING,
	SNAPSHOT_PART_OVERDUE,
	SNAPSHOT_PART_LATENESS,
	SNAPSHOT_PART_SOURCES,
	SNAPSHOT_PART_OUTBOX,
	SNAPSHOT_PART_TASKS,
	SNAPSHOT_PART_REFUNDS,
	SNAPSHOT_PART_ALERTS,
	SNAPSHOT_PART_LATEST,
	SNAPSHOT_PART_INVARIANTS, /* once a minute */
	SNAPSHOT_PART_QUEUES,
	SNAPSHOT_PART_UNACKED,
	SNAPSHOT_PART_COUNT,
};

/* The label query of lapse_snapshot_errors_total: "clock", "waiting", ... */
extern const char *const snapshot_part_names[SNAPSHOT_PART_COUNT];

enum {
	SNAPSHOT_COUNT_MAX = 1000000, /* a count that reads more stands for "or more" */
	SNAPSHOT_CLOSE_MAX = 100000,  /* so many of the newest closes are looked at */
	SNAPSHOT_TIME_SIZE = 32,
	SNAPSHOT_WHY_SIZE = 160,
	SNAPSHOT_KINDS = BACKLOG_KINDS,
	SNAPSHOT_STATUSES = BACKLOG_STATUSES,
	SNAPSHOT_OUTCOMES = PAYMENT_OUTCOME_UNKNOWN_ORDER + 1,
};

enum snapshot_window {
	SNAPSHOT_WINDOW_15_MIN,
	SNAPSHOT_WINDOW_1_H,
	SNAPSHOT_WINDOW_24_H,
	SNAPSHOT_WINDOW_MESSAGE, /* 15 min, closes by message only */
	SNAPSHOT_WINDOW_COUNT,
};

/* close_time - expire_time of TIMEOUT closes, nearest rank; count 0: there are none. */
struct snapshot_lateness {
	uint64_t count;
	bool is_cut; /* only the newest closes of the window were looked at */
	int64_t p50_ms;
	int64_t p99_ms;
};

struct snapshot_pile {
	uint64_t count;
	uint64_t oldest_ms;
};

struct snapshot_queue {
	bool is_there;
	uint32_t ready;
	uint32_t consumers;
	uint64_t unacked; /* known with SNAPSHOT_PART_UNACKED */
};

struct snapshot_state {
	bool is_known;
	uint64_t unknown_since_ms;   /* by clock_now_ms, when it is not */
	char why[SNAPSHOT_WHY_SIZE]; /* it is unknown; one line, no secrets */
	uint64_t errors;             /* failures since the start */
};

struct snapshot_figures {
	uint64_t number; /* counts up */
	int64_t taken_epoch_ms;
	uint64_t duration_ms;
	struct snapshot_state parts[SNAPSHOT_PART_COUNT];

	char time[SNAPSHOT_TIME_SIZE]; /* CLOCK: MySQL's, ISO 8601 with Z */
	uint64_t waiting;              /* WAITING: unpaid, deadline ahead */
	struct snapshot_pile overdue;  /* OVERDUE: past the deadline by more than the grace */
	struct snapshot_lateness lateness[SNAPSHOT_WINDOW_COUNT];
	uint64_t timeout_closes;         /* SOURCES: of the last 30 min, the newest of them */
	uint64_t sweep_closes;           /* of these */
	struct snapshot_pile outbox_new; /* OUTBOX: due now */
	struct snapshot_pile outbox_failed;
	struct snapshot_pile tasks[SNAPSHOT_KINDS][SNAPSHOT_STATUSES]; /* no DONE, RESOLVED */
	struct snapshot_pile refunds[SNAPSHOT_OUTCOMES];               /* PENDING or FAILED */
	uint64_t alerts_firing;                                        /* ALERTS */
	uint64_t alerts_silenced;                                      /* of these */
	struct snapshot_pile alerts_undelivered;                       /* also those given up */
	/* LATEST: -1: there was none. */
	int64_t last_close_age_ms;
	int64_t last_sweep_close_age_ms; /* of an order that a sweep had to close */
	int64_t last_publish_age_ms;
	uint64_t violations[INVARIANT_COUNT]; /* INVARIANTS: of the last hour */
	/* QUEUES.  mode AUTO: cannot tell. */
	char broker[64]; /* "RabbitMQ 4.2.0" */
	enum topology_mode mode;
	struct snapshot_queue queues[TOPOLOGY_QUEUE_MAX]; /* as topology_list_queues gives them */
	size_t queue_count;
};

#endif
