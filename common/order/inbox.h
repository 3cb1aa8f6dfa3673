/*
 * inbox - events already consumed, and the webhook tasks they caused.
 *
 * An event is recorded once per consumer name, which is the name of the subscriber, in the same
 * transaction as its task.  So a second delivery makes nothing new, and no subscriber is taken for
 * another one.  Tasks of one order have ascending ids in the order in which the events came.
 */
#ifndef COMMON_ORDER_INBOX_H
#define COMMON_ORDER_INBOX_H

#include <stddef.h>

#include "common/base/result.h"
#include "common/order/event_message.h"

struct db;
struct subscriber_list;

enum {
	INBOX_BATCH_MAX = 512,
	INBOX_DOCUMENTS_MAX = 4194304, /* bytes of one batch, so that they fit into a packet */
	INBOX_ERROR_SIZE = 256,
};

enum inbox_outcome {
	INBOX_OUTCOME_OPEN,      /* nothing was done */
	INBOX_OUTCOME_NEW,       /* at least one task was written */
	INBOX_OUTCOME_UNWANTED,  /* no subscriber asked for its type */
	INBOX_OUTCOME_DUPLICATE, /* all who want it have their task */
	INBOX_OUTCOME_LOCKED,    /* somebody holds its rows; later it may work */
	INBOX_OUTCOME_FAILED,    /* the bad event: it can never be recorded */
};

struct inbox_event {
	const char *document; /* the message body, borrowed; goes into the payload as it is */
	size_t document_size;
	struct event_message message;
	/* Filled in: */
	char error[INBOX_ERROR_SIZE]; /* LOCKED, FAILED */
	enum inbox_outcome outcome;
};

/*
 * Records at most INBOX_BATCH_MAX events with at most INBOX_DOCUMENTS_MAX bytes of documents.  One
 * transaction for all; a lost race is run again a few times, then, as after any other error, the
 * list is cut in halves until the one event that cannot be recorded stands alone.  Every event gets
 * its outcome.  TEMPORARY: MySQL is away; some may be recorded and are still OPEN: run it again.
 */
MUST_USE enum result inbox_record(struct db *db, const struct subscriber_list *subscribers,
	struct inbox_event *events, size_t count, struct error *error);

#endif
