/*
 * claims - claims and settles compensation tasks as lapse-retry does; every mistake fails the test.
 */
#ifndef TESTS_SUPPORT_CLAIMS_H
#define TESTS_SUPPORT_CLAIMS_H

#include <stdint.h>

#include "common/order/compensation_claim.h"

struct db;
struct db_settings;
struct query;

/* count due tasks with the ids 1, 2, ... and order numbers A1, A2, ...; the last one has waited
 * longest. */
void claims_insert(struct query *query, const char *kind, const char *target, uint32_t count);
/* Owned by the caller; NULL when nothing is due. */
struct compensation_list *claims_take(struct db *db, const char *target, uint32_t limit);
/* Each by the verdict it has. */
void claims_settle(struct db *db, struct compensation_list *list);
/* All by one verdict; what is not DONE failed with "HTTP 503". */
void claims_settle_all(
	struct db *db, struct compensation_list *list, enum compensation_verdict verdict);
/* A connection with the settings it borrows. */
struct claims_db {
	struct db *db;
	struct db_settings *settings;
};
void claims_connect(const char *url, struct claims_db *connection_out);
void claims_disconnect(struct claims_db *connection);

#endif
