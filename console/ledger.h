/*
 * ledger - the way of a page to the database, and who acts there: connection, actor, notes.
 */
#ifndef CONSOLE_LEDGER_H
#define CONSOLE_LEDGER_H

#include <stdint.h>

#include "common/base/result.h"
#include "common/order/act.h"
#include "console/visit.h"

struct db;

enum {
	LEDGER_ID_SIZE = 64 + 1
};

struct ledger_actor {
	struct audit_actor actor;
	char request_id[LEDGER_ID_SIZE];
};

/* NULL: MySQL is away, and the visit has been answered with 503. */
struct db *ledger_open(struct visit *visit);
/* What the use of the connection gave. */
void ledger_close(struct visit *visit, enum result result, const struct error *error);

/* The person, with the request id of the form or of Idempotency-Key, or a new one.  false: that id
 * is no key, and the visit has been answered with 400.  bulk_id may be NULL.  Must not be moved. */
bool ledger_actor(struct visit *visit, struct ledger_actor *actor_out);

/* A log-in that was refused. */
void ledger_note_login(struct visit *visit);
/* Something that was looked at ("export", "unmask"). */
void ledger_note(
	struct visit *visit, const char *action, const char *target_type, const char *target_id);

/*
 * The answer to an act: 303 to path with ?audit=, or the page of its status, or JSON.  action is
 * the word of the audit; path is encoded already.
 */
void ledger_answer(struct visit *visit, const char *action, const char *path, enum result result,
	const struct act_result *outcome, const struct error *error);

#endif
