/*
 * option - the options of lapsectl, by table: each has one name, one kind and one meaning.
 *
 * Which of them a command takes is a set of bits; the same long name may stand for another option
 * in another command.
 */
#ifndef CTL_OPTION_H
#define CTL_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "common/base/result.h"

enum option {
	OPTION_HELP,
	OPTION_VERSION,
	OPTION_CHECK_CONFIG,
	OPTION_HEALTHCHECK,
	OPTION_ENV_FILE,
	OPTION_JSON,
	OPTION_PLAIN,
	OPTION_QUIET,
	OPTION_VERBOSE,
	OPTION_NO_COLOR,
	OPTION_DRY_RUN,
	OPTION_YES,
	OPTION_NO_INPUT,
	OPTION_ACTOR,
	OPTION_SHOW_STATUS, /* --status of migrate, a flag */
	OPTION_CHECK,
	OPTION_SINCE,
	OPTION_OVERDUE_GRACE,
	OPTION_STATUS, /* --status of lists, with a value */
	OPTION_KIND,
	OPTION_ORDER,
	OPTION_ERROR,
	OPTION_OLDER_THAN,
	OPTION_LIMIT,
	OPTION_AFTER,
	OPTION_CONFIRM_COUNT,
	OPTION_REASON,
	OPTION_WHY, /* --reason with free text */
	OPTION_CONFIRM,
	OPTION_TENANT,
	OPTION_CHANNEL,
	OPTION_ACTIVITY,
	OPTION_CATEGORY,
	OPTION_TIMEOUT,
	OPTION_PRIORITY,
	OPTION_FROM,
	OPTION_UNTIL,
	OPTION_BY,
	OPTION_ALL,
	OPTION_PLACE, /* --after of lists */
	OPTION_STATE,
	OPTION_TARGET,
	OPTION_OVERDUE_BY,
	OPTION_CLOSED_FROM,
	OPTION_CLOSED_TO,
	OPTION_CLOSE_REASON, /* --reason of list orders */
	OPTION_SOURCE,
	OPTION_TYPE,
	OPTION_OUTCOME,
	OPTION_REFUND_STATE,
	OPTION_WHO,
	OPTION_ACT,
	OPTION_RESULT,
	OPTION_AT_FROM, /* --from and --to of list audit */
	OPTION_AT_TO,
	OPTION_FOR,
	OPTION_ONCE,
	OPTION_INTERVAL,
	OPTION_USER,
	OPTION_ROLE,
	OPTION_ALERT_TARGET, /* --target of alert test */
};

enum {
	OPTION_COUNT = OPTION_ALERT_TARGET + 1 /* at most 64: a set is that many bits */
};

#define OPTION_BIT(option) (UINT64_C(1) << (option))

/* What every command takes. */
extern const uint64_t option_common;

struct option_value {
	bool is_set;
	const char *text; /* borrowed from the command line; NULL for a flag */
	uint64_t number;  /* of a number, or milliseconds of a duration */
};

/* Plain data; all zero is "nothing given". */
struct option_set {
	struct option_value values[OPTION_COUNT];
};

/*
 * Takes the option at arguments[*place], with its value when it has one, and moves place behind
 * both.  PERMANENT with words: not one of allowed, no value, or a value of the wrong kind.
 */
MUST_USE enum result option_take(struct option_set *options, uint64_t allowed,
	char *const *arguments, int count, int *place, struct error *error);

bool option_is_given(const struct option_set *options, enum option option);
/* NULL when not given. */
const char *option_text(const struct option_set *options, enum option option);
uint64_t option_number(const struct option_set *options, enum option option, uint64_t fallback);

/* Without the dashes; and what it is for. */
const char *option_name(enum option option);
const char *option_help(enum option option);

/* One line for each option of the set. */
void option_print_help(uint64_t set, FILE *file);

#endif
