/*
 * grant_table - what each program's own MySQL user may do: its work and nothing else.
 *
 * Besides what stands here, everybody may read t_schema_version.
 */
#ifndef CTL_GRANT_TABLE_H
#define CTL_GRANT_TABLE_H

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

#endif
