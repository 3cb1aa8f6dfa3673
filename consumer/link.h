/*
 * link - the two broker connections of the consumer: in (deliveries, acks) and out (publish again,
 * park), so that a blocked publisher never stops acks.
 *
 * The in connection is what the consumer lives on: without it the step fails.  The out connection
 * is tried again by backoff beside the work.
 */
#ifndef CONSUMER_LINK_H
#define CONSUMER_LINK_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/result.h"
#include "consumer/settings.h"

struct link;

void link_create(const struct consumer_settings *settings, struct link **link_out);
void link_destroy(struct link **link);

/* Connects, declares the due queue and subscribes.  has_reconnected_out: tags and deliveries of
 * before are void. */
MUST_USE enum result link_ensure_in(
	struct link *link, bool *has_reconnected_out, struct error *error);
/* Connects, declares the whole topology and turns confirms on, not before its next try is due.
 * has_reconnected_out: what was published before and not confirmed has to be published again. */
bool link_ensure_out(struct link *link, bool *has_reconnected_out);

/* Ends the subscription; the next link_ensure_in subscribes only after link_resume. */
void link_pause(struct link *link);
void link_resume(struct link *link);

struct broker *link_in(struct link *link);
struct broker *link_out(struct link *link);
struct topology *link_topology(struct link *link);
/* May the out connection be written to? */
bool link_can_publish(const struct link *link);
/* Why the out connection is not usable; "" when it is. */
const char *link_trouble(const struct link *link);

/* Looks now and then whether the broker still knows this subscription: it may be lost silently. */
MUST_USE enum result link_check_subscription(struct link *link, struct error *error);

#endif
