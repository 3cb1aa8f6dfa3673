/*
 * grant_table - what each program's own MySQL user may do: its work and nothing else.
 *
 * Besides what stands here, everybody may read t_schema_version.
 */
#ifndef CTL_GRANT_TABLE_H
#define CTL_GRANT_TABLE_H

#include <stddef.h>

struct grant {
	const char *privileges; /* as GRANT has them */
	const char *table;      /* NULL: each table of the schema */
};

struct grant_user {
	const char *name;
	const struct grant *lists[2]; /* each ended by privileges of NULL */
};

/* Ended by a name of NULL. */
extern const struct grant_user grant_users[];
/* The tables of the schema, ended by NULL. */
extern const char *const grant_tables[];

enum {
	GRANT_NAME_SIZE = 64 + 1,
	GRANT_RIGHTS_MAX = 128, /* of one user */
};

/* One right by itself. */
struct grant_right {
	char privilege[GRANT_NAME_SIZE]; /* "UPDATE" */
	const char *table;
	char column[GRANT_NAME_SIZE]; /* "": the whole table */
};

/* Everything the user may do, one by one, t_schema_version too; gives how many there are. */
size_t grant_table_list(
	const struct grant_user *user, struct grant_right rights_out[GRANT_RIGHTS_MAX]);

#endif
