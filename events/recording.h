/*
 * recording - the open deliveries of a batch into the inbox, and what became of each back to it.
 */
#ifndef EVENTS_RECORDING_H
#define EVENTS_RECORDING_H

#include "common/base/result.h"

struct batch;
struct db;
struct parking;
struct recording;
struct subscriber_list;

/* Borrows both, which must live longer. */
void recording_create(
	struct batch *batch, struct parking *parking, struct recording **recording_out);
void recording_destroy(struct recording **recording);

/*
 * Records all that are OPEN, those delivered often each alone.  A failure leaves what is not
 * recorded OPEN: it runs again later, which makes nothing twice.
 */
MUST_USE enum result recording_run(struct recording *recording, struct db *db,
	const struct subscriber_list *subscribers, struct error *error);

/* Registers the counter of consumed events. */
void recording_register_metrics(void);
/* A delivery that was no event, parked on sight. */
void recording_count_malformed(void);

#endif
