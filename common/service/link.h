/*
 * link - the two broker connections of a consumer: in (deliveries, acks) and out (publish again,
 * park), so that a blocked publisher never stops acks.
 *
 * The in connection is what the consumer lives on: without it the step fails.  The out connection
 * is tried again by backoff beside the work.
 */
#ifndef COMMON_SERVICE_LINK_H
#define COMMON_SERVICE_LINK_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/result.h"
#include "common/io/broker.h"

struct link;

/* What is read and how; copied, but the texts and the context are borrowed. */
struct link_plan {
	const char *name;  /* of the program, shown by the broker */
	const char *queue; /* to read */
	uint16_t prefetch;
	/* Declares what is read, and everything that is published to.  Once per connection. */
	enum result (*declare_in)(void *context, struct broker *broker, struct error *error);
	enum result (*declare_out)(void *context, struct broker *broker, struct error *error);
	void *context;
};

/* Borrows settings, which must live longer. */
void link_create(const struct broker_settings *settings, const struct link_plan *plan,
	struct link **link_out);
void link_destroy(struct link **link);

/* Connects, declares the queue and subscribes.  has_reconnected_out: tags and deliveries of before
 * are void. */
MUST_USE enum result link_ensure_in(
	struct link *link, bool *has_reconnected_out, struct error *error);
/* Connects, declares what is published to and turns confirms on, not before its next try is due.
 * has_reconnected_out: what was published before and not confirmed has to be published again. */
bool link_ensure_out(struct link *link, bool *has_reconnected_out);

/* Ends the subscription; the next link_ensure_in subscribes only after link_resume. */
void link_pause(struct link *link);
void link_resume(struct link *link);
/* Pauses, and gives count deliveries up to last_tag back to the queue. */
MUST_USE enum result link_give_back(
	struct link *link, uint64_t last_tag, size_t count, struct error *error);

struct broker *link_in(struct link *link);
struct broker *link_out(struct link *link);
/* May the out connection be written to? */
bool link_can_publish(const struct link *link);
/* What is wrong with the two; "" when all is well. */
const char *link_trouble(const struct link *link);

/* Takes deliveries, at most limit of them: each is given to take, whose failure ends it.  Waits
 * wait_ms for the first one, then linger_ms once for more. */
struct link_taking {
	size_t limit;
	uint64_t wait_ms;
	uint64_t linger_ms;
	/* false: it has no room for more. */
	bool (*has_room)(void *context);
	enum result (*take)(
		void *context, const struct broker_delivery *delivery, struct error *error);
	void *context;
};
MUST_USE enum result link_take(struct link *link, const struct link_taking *taking,
	size_t *taken_out, struct error *error);

/* Looks now and then whether the broker still knows this subscription: it may be lost silently. */
MUST_USE enum result link_check_subscription(struct link *link, struct error *error);
/*
 * For db_set_companion, with a link as context: a slow MySQL must not cost the connections their
 * heartbeats, nor the process its life: the loop turns.  A connection that is lost here shows in
 * its next use.
 */
void link_serve(void *context);

#endif
