/*
 * direct_db - a connection of common/io/db to the database of a sandbox, for tests that call our
 * modules themselves instead of a program.
 */
#ifndef TESTS_SUPPORT_DIRECT_DB_H
#define TESTS_SUPPORT_DIRECT_DB_H

#include "common/io/db.h"

struct proxy;
struct sandbox;

enum {
	DIRECT_DB_URL_SIZE = 512
};

struct direct_db {
	char url[DIRECT_DB_URL_SIZE];
	struct db_settings settings;
	struct db *db;
};

/*
 * Connects.  proxy (may be NULL) stands between; options (may be NULL) go behind the URL:
 * "found_rows=on".  Must not be moved while it is open.
 */
void direct_db_open(struct direct_db *direct, const struct sandbox *sandbox,
	const struct proxy *proxy, const char *options);
void direct_db_close(struct direct_db *direct);
/* Connected again after a failure; fails the test when that does not work within a while. */
void direct_db_reconnect(struct direct_db *direct);

/* Fails the test when one of the promises that SQL can check is broken; orders may be overdue. */
void direct_db_expect_sound(struct direct_db *direct);

#endif
