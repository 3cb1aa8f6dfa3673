/*
 * closing - ready deliveries into one call of close_orders, and its outcomes back to them.
 */
#ifndef CONSUMER_CLOSING_H
#define CONSUMER_CLOSING_H

#include <stddef.h>

#include "common/base/result.h"

struct closing;
struct db;
struct settle;

/* At most batch_max orders in one call.  Borrows settle, which must live longer. */
void closing_create(size_t batch_max, const struct settle *settle, struct closing **closing_out);
void closing_destroy(struct closing **closing);

/*
 * Closes up to one batch of READY deliveries; a suspect one is handled alone.  NONE: none is
 * ready.  A failure leaves them READY: the same batch runs again later, which the guards make
 * safe.
 */
MUST_USE enum result closing_run(struct closing *closing, struct db *db, struct error *error);

#endif
