/*
 * migration - numbered SQL files that make the schema, and what a server has of them.
 *
 * A migration may be applied twice: a process that dies in the middle leaves it unrecorded, and the
 * next one runs it again from its first statement.
 */
#ifndef CTL_MIGRATION_H
#define CTL_MIGRATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/result.h"

struct db;

enum {
	MIGRATION_MAX = 1000,
	MIGRATION_CHECKSUM_SIZE = 64 + 1,
	MIGRATION_TIME_SIZE = 32,
};

struct migration {
	uint32_t version;
	const char *name;
	const char *checksum; /* SHA-256 of the file, in hexadecimal digits */
	const unsigned char *sql;
	size_t sql_size;
};

/* The files of schema/, built into the program, in order. */
extern const struct migration migration_files[];
extern const size_t migration_file_count;

enum migration_state {
	MIGRATION_STATE_PENDING,
	MIGRATION_STATE_APPLIED,
	MIGRATION_STATE_CHANGED, /* applied, but the file is another one by now */
};

/* "pending", "applied", "changed", in the order of the enum. */
extern const char *const migration_state_names[];

struct migration_status {
	enum migration_state state;
	char applied_at[MIGRATION_TIME_SIZE];   /* ISO 8601 with Z; "" when pending */
	char checksum[MIGRATION_CHECKSUM_SIZE]; /* of the file that was applied */
};

/*
 * Takes the lock that all who migrate this schema share; it is held until the connection ends.
 * Waits at most wait_s seconds; NONE: somebody else has it.
 */
MUST_USE enum result migration_lock(struct db *db, uint32_t wait_s, struct error *error);
/* One statement: makes the table that remembers. */
MUST_USE enum result migration_prepare(struct db *db, struct error *error);
/*
 * Fills one status per file.  newest_out: the highest version the server has, 0 for none, also when
 * the table that remembers is not there.
 */
MUST_USE enum result migration_list(struct db *db, const struct migration *files, size_t count,
	struct migration_status *statuses, uint32_t *newest_out, struct error *error);
/* Runs every statement of the file, then records it. */
MUST_USE enum result migration_apply(
	struct db *db, const struct migration *file, struct error *error);

#endif
