/*
 * timeouts - sends timeouts through a topology and measures when they arrive in the due queue.
 */
#ifndef TESTS_SUPPORT_TIMEOUTS_H
#define TESTS_SUPPORT_TIMEOUTS_H

#include <stddef.h>
#include <stdint.h>

struct connection;
struct topology;

enum {
	TIMEOUTS_MAX = 1000
};

/* One timeout: what was asked, and when it came. */
struct timeouts_entry {
	int64_t remaining_ms; /* when it was sent */
	int64_t sent_ms;      /* clock_now_ms */
	int64_t early_ms;     /* how long before its time it came; negative: late */
	uint32_t came_count;
};

struct timeouts {
	struct timeouts_entry entries[TIMEOUTS_MAX];
	size_t count;
};

/* Publishes one more, with the number of its place as message id. */
void timeouts_send(struct timeouts *timeouts, struct connection *connection,
	struct topology *topology, int64_t remaining_ms);
/* Waits for every confirm; a returned message fails the test. */
void timeouts_await_confirms(const struct timeouts *timeouts, struct connection *connection);
/* Takes and acks deliveries until so many have come. */
void timeouts_receive(struct timeouts *timeouts, struct connection *connection, size_t count);

#endif
