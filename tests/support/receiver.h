/*
 * receiver - a lapse-receiver of the test: its switches, and what came to it.
 */
#ifndef TESTS_SUPPORT_RECEIVER_H
#define TESTS_SUPPORT_RECEIVER_H

#include <stddef.h>
#include <stdint.h>

struct process;
struct sandbox;

enum {
	RECEIVER_TEXT_SIZE = 16384
};

struct receiver_service {
	struct process *process;
	uint16_t port;
};

/* Returns when it answers.  LAPSE_WEBHOOKS_FILE is set before. */
void receiver_start(struct sandbox *sandbox, uint16_t port, struct receiver_service *receiver_out);
/* One switch of misbehaviour: "fail-rate", "0.5". */
void receiver_set(const struct receiver_service *receiver, const char *name, const char *value);

/* "calls", "effects" or "changed" of a hook; 0 when nothing came to it. */
int64_t receiver_count(const struct receiver_service *receiver, const char *hook, const char *what);
/* Requests with a bad signature or to no hook. */
int64_t receiver_count_refused(const struct receiver_service *receiver);
/* "E1 E2 ": ids of what came about an order, the first calls in their order. */
void receiver_list(const struct receiver_service *receiver, const char *hook, const char *order_no,
	char text[RECEIVER_TEXT_SIZE]);
/* Refunds, and the calls of all of them together. */
int64_t receiver_count_refunds(const struct receiver_service *receiver, int64_t *calls_out);

#endif
