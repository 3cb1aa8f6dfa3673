/*
 * publish - "lapse-producer publish": arms the timeouts of orders that exist, for those who cannot
 * write an outbox row.
 */
#ifndef PRODUCER_PUBLISH_H
#define PRODUCER_PUBLISH_H

struct producer_settings;

/* The exit status: 0 all armed or already final, 1 a line was no order number, 3 an order was not
 * found, 64 nothing was named, 75 a server was away. */
int publish_run(const struct producer_settings *settings);

#endif
