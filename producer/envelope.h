/*
 * envelope - an outbox row as a message: a timeout, or a domain event as CloudEvents 1.0 JSON.
 */
#ifndef PRODUCER_ENVELOPE_H
#define PRODUCER_ENVELOPE_H

#include <stddef.h>

#include "common/base/result.h"
#include "common/io/broker.h"
#include "common/order/order.h"
#include "common/order/outbox.h"

/* The routing key of an event type ("order.closed"), NULL for a type that nobody knows. */
const char *envelope_routing_key(const char *event_type);

/*
 * The body of a domain event; the caller owns it.  PERMANENT with the reason when it can never be
 * published: an unknown type, a payload that is too long or no JSON object.
 */
MUST_USE enum result envelope_write_event(const struct outbox_row *row,
	const struct order_detail *order, const char *env_label, char **body_out,
	struct error *error);

/* Properties of the message of an event; texts are borrowed from row and exchange. */
void envelope_fill_event(
	const struct outbox_row *row, const char *exchange, struct broker_message *message);

#endif
