/*
 * fleet - the daemons of one installation in a sandbox of their own, and the check of all promises
 * when it is over.
 *
 * Intervals are short: sweep 2 s, retry 100 ms doubling to 1 s.  What a scenario wants otherwise it
 * sets in the sandbox before it starts a daemon.
 */
#ifndef TESTS_SUPPORT_FLEET_H
#define TESTS_SUPPORT_FLEET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fleet;
struct http_stub;
struct process;
struct query;
struct sandbox;

enum fleet_member {
	FLEET_PRODUCER,
	FLEET_CONSUMER,
	FLEET_SWEEPER,
	FLEET_RETRY,
};

enum {
	FLEET_MEMBERS = FLEET_RETRY + 1,
	FLEET_SWEEP_MS = 2000,
	FLEET_RESIDENT_MAX_KIB = 16 * 1024,
	FLEET_ANY_LATENESS = -1,
};

/* A sandbox with its stub; nothing is started. */
void fleet_create(struct fleet **fleet_out);
void fleet_destroy(struct fleet **fleet);
struct sandbox *fleet_sandbox(const struct fleet *fleet);
struct query *fleet_query(const struct fleet *fleet);
struct http_stub *fleet_stub(const struct fleet *fleet);

/* One of each. */
void fleet_start(struct fleet *fleet);
struct process *fleet_start_one(struct fleet *fleet, enum fleet_member member);
/* Starts one that stops itself (SIGSTOP) at a failpoint, and waits until it has. */
struct process *fleet_stop_one(
	struct fleet *fleet, enum fleet_member member, const char *failpoint);
/* kill -9, and no more part of the fleet. */
void fleet_kill_one(struct fleet *fleet, struct process *process);
/* Starts one that is to kill itself at a failpoint, waits until it has, and forgets it. */
void fleet_lose_one(struct fleet *fleet, enum fleet_member member, const char *failpoint);
/* The ops port of the one started last. */
uint16_t fleet_ops_port(const struct fleet *fleet, enum fleet_member member);
/* Waits until /readyz says so. */
void fleet_await_ready(const struct fleet *fleet, enum fleet_member member, bool wants_ready);

/* Orders of two items each with their events, due evenly spread; see orders_insert_many. */
void fleet_feed(struct fleet *fleet, const char *prefix, uint32_t count, int64_t due_in_ms,
	uint32_t spread_ms);
/* Closed orders whose number begins so, by source: "message", "sweep", or "%" for all. */
int64_t fleet_count_closed(const struct fleet *fleet, const char *prefix, const char *source);
/* Waits until no order is due, no event waits and no task is open. */
void fleet_settle(struct fleet *fleet);

struct fleet_expectation {
	int64_t latest_ms; /* of a close behind its deadline, or FLEET_ANY_LATENESS */
	int64_t parked;    /* messages */
	int64_t dead;      /* tasks; without them every task is DONE and its effect happened */
	uint64_t calls;    /* most calls of one key; 0: 1 + 5 */
};
/*
 * Settled, every daemon that was started is there still and small, lapsectl verify finds nothing,
 * the stub saw each effect once and nothing else, and an orderly stop leaves no message behind.
 */
void fleet_check(struct fleet *fleet, const struct fleet_expectation *expectation);

#endif
