/*
 * gateway - a running lapse-gateway of a sandbox, and what its callers say to it.
 */
#ifndef TESTS_SUPPORT_GATEWAY_H
#define TESTS_SUPPORT_GATEWAY_H

#include <stdint.h>

#include "tests/support/api_client.h"

struct process;
struct sandbox;

#define GATEWAY_SECRET "the secret of this test"

struct gateway_run {
	struct sandbox *sandbox;
	struct process *process;
	struct api_client *client;
	uint16_t port;
};

/* Starts one on a free port with GATEWAY_SECRET and what the sandbox has set; returns when it
 * answers. */
void gateway_start(struct gateway_run *gateway, struct sandbox *sandbox);
/* The same port once more, after the process has ended. */
void gateway_start_again(struct gateway_run *gateway);
/* Only the client: the process belongs to the sandbox. */
void gateway_leave(struct gateway_run *gateway);

/* A notice; what is NULL or 0 has a good value: channel "pay", 9900 cents, CNY, state paid. */
struct gateway_notice {
	const char *order_no;
	const char *trade_no;
	const char *channel;
	int64_t amount_cents;
	const char *currency;
	const char *state;
	const char *more; /* members with a comma in front */
};

/* Signed with GATEWAY_SECRET. */
const struct api_answer *gateway_notify(
	struct api_client *client, const struct gateway_notice *notice);
/* A notice of any text, signed with secret. */
const struct api_answer *gateway_notify_text(
	struct api_client *client, const char *secret, const char *body, int64_t skew_s);

/* Fails the test unless the answer has the status and its body the words. */
void gateway_expect(const struct api_answer *answer, unsigned int status, const char *words);

#endif
