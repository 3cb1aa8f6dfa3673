/*
 * publisher - publishes the rows of flights and takes their confirms.
 */
#ifndef PRODUCER_PUBLISHER_H
#define PRODUCER_PUBLISHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/result.h"
#include "producer/flight.h"
#include "producer/settings.h"

struct db;
struct publisher;

enum {
	PUBLISHER_FLIGHT_MAX = 8
};

/* Borrows settings, which must live longer. */
void publisher_create(const struct producer_settings *settings, struct publisher **publisher_out);
void publisher_destroy(struct publisher **publisher);

/* Connects and declares; flights of a lost connection have all their rows settled as AGAIN. */
MUST_USE enum result publisher_ensure(struct publisher *publisher, struct error *error);
bool publisher_is_connected(const struct publisher *publisher);
/* Has the broker said that it takes nothing at the moment? */
bool publisher_is_blocked(const struct publisher *publisher);
/* The longest delay given to the broker at once. */
uint64_t publisher_horizon_ms(const struct publisher *publisher);

/* How many more rows may be claimed now; 0 while the window or the flights are full. */
size_t publisher_room(const struct publisher *publisher);
size_t publisher_count_open(const struct publisher *publisher);
/*
 * Takes the batch over and publishes it; reads the orders it needs over db.  A failure of db leaves
 * every row AGAIN; rows the broker does not take are AGAIN, too.
 */
MUST_USE enum result publisher_publish(struct publisher *publisher, struct db *db,
	struct outbox_batch *batch_adopt, struct error *error);
/* Takes the confirms that arrive inside wait_ms. */
MUST_USE enum result publisher_take_confirms(
	struct publisher *publisher, uint64_t wait_ms, struct error *error);
/* Serves the connection without taking anything; a loss shows in the next use. */
void publisher_keep_alive(struct publisher *publisher);
/* A flight of which all is known, to be settled and ended by the caller; NULL: none. */
struct flight *publisher_find_done(struct publisher *publisher);

#endif
