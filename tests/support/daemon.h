/*
 * daemon - one of our daemons with its ops port, and messages for it in numbers.
 */
#ifndef TESTS_SUPPORT_DAEMON_H
#define TESTS_SUPPORT_DAEMON_H

#include <stdbool.h>
#include <stdint.h>

struct process;
struct sandbox;

struct daemon {
	struct process *process; /* belongs to the sandbox */
	uint16_t port;
};

/* With LAPSE_OPS_ADDR on a port of its own; does not wait. */
void daemon_start(struct sandbox *sandbox, const char *program, struct daemon *daemon_out);
/* The same, and waits until it is ready. */
void daemon_start_ready(struct sandbox *sandbox, const char *program, struct daemon *daemon_out);
bool daemon_is_ready(void *daemon);
bool daemon_is_not_ready(void *daemon);
/* Does /readyz?verbose hold the words? */
bool daemon_says(const struct daemon *daemon, const char *words);
/* A series of /metrics; -1 when it is not there. */
double daemon_metric(const struct daemon *daemon, const char *series);
/* TERM, and an end with 0 within the limit, or the test fails. */
void daemon_stop(const struct daemon *daemon, uint64_t limit_ms);
/* Fails the test when it has ended, or is bigger than a daemon may be; sanitizers may take more. */
void daemon_expect_well(const struct daemon *daemon);

/* Timeout messages of the orders <prefix>0 to <prefix>count - 1 into a queue, all confirmed. */
void daemon_flood(
	const struct sandbox *sandbox, const char *queue, const char *prefix, uint32_t count);

#endif
