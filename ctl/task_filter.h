/*
 * task_filter - which tasks are meant, from the options --status, --kind, --order, --error,
 * --older-than and --after.
 */
#ifndef CTL_TASK_FILTER_H
#define CTL_TASK_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/result.h"
#include "common/io/db.h"
#include "ctl/option.h"

enum {
	TASK_FILTER_PARAM_MAX = 8,
	TASK_FILTER_SQL_SIZE = 768,
	TASK_FILTER_WORDS_SIZE = 512,
};

/* The options of a filter, for the table of commands. */
#define TASK_FILTER_OPTIONS                                                               \
	(OPTION_BIT(OPTION_STATUS) | OPTION_BIT(OPTION_KIND) | OPTION_BIT(OPTION_ORDER) | \
		OPTION_BIT(OPTION_ERROR) | OPTION_BIT(OPTION_OLDER_THAN) |                \
		OPTION_BIT(OPTION_AFTER))

/* The tasks meant when no --status is given. */
enum task_filter_scope {
	TASK_FILTER_SCOPE_TROUBLED, /* DEAD, or waiting for another try */
	TASK_FILTER_SCOPE_DEAD,     /* and no other --status is allowed */
};

/* Plain data; texts of params are borrowed from the options. */
struct task_filter {
	char condition[TASK_FILTER_SQL_SIZE]; /* behind FROM t_compensation, with its index hint */
	struct db_param params[TASK_FILTER_PARAM_MAX];
	size_t param_count;
	char words[TASK_FILTER_WORDS_SIZE]; /* the same for people */
};

/* PERMANENT with words: an option has a value that cannot be. */
MUST_USE enum result task_filter_read(const struct option_set *options,
	enum task_filter_scope scope, struct task_filter *filter, struct error *error);
/* Is any option of a filter given? */
bool task_filter_is_given(const struct option_set *options);

#endif
