/*
 * hooks - POST /hooks/{subscriber}: webhooks, checked and carried out once for each id.
 *
 * The secrets are those of the file that lapse-retry signs with.
 */
#ifndef DEMO_RECEIVER_HOOKS_H
#define DEMO_RECEIVER_HOOKS_H

#include "common/io/httpd.h"
#include "common/order/subscriber.h"
#include "demo/receiver/book.h"

struct json;

/* What came for one name. */
struct hook {
	char name[SUBSCRIBER_NAME_SIZE];
	struct book *book; /* by webhook-id */
	uint64_t calls;    /* with a good signature */
	uint64_t changed;  /* an id that came again with another body */
};

/* All zero bytes is a valid start. */
struct hooks {
	struct subscriber_list subscribers;
	struct hook items[SUBSCRIBER_MAX];
	size_t count;
	uint64_t refused; /* bad or missing signatures, too old, unknown names */
};

void hooks_clear(struct hooks *hooks);

/*
 * The subscriber a request is for, when its signature is good and at most five minutes old or
 * ahead; NULL and an answer when not.
 */
const struct subscriber *hooks_check(
	struct hooks *hooks, const struct httpd_request *request, struct httpd_answer *answer);
/* Counts the call, carries it out once, and answers. */
void hooks_carry_out(struct hooks *hooks, const struct subscriber *subscriber,
	const struct httpd_request *request, struct httpd_answer *answer);

/* Counts by name; order_no (may be NULL): also what came about this order, in its order. */
MUST_USE struct json *hooks_describe(const struct hooks *hooks, const char *order_no);

#endif
