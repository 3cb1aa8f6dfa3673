/*
 * rule_preview - rule add and rule end, before somebody says yes: which later orders change.
 */
#ifndef CTL_RULE_PREVIEW_H
#define CTL_RULE_PREVIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "common/order/rule_set.h"

struct rule_definition;
struct session;

struct rule_preview {
	bool is_shown;                /* a person saw it, or will before saying yes */
	char rule_set[RULE_SET_SIZE]; /* what was seen */
};

/* Writes what would change, unless --yes says that nobody looks; with --dry-run in any case.
 * An exit status; all but OK have been complained about. */
int rule_preview_adding(const struct session *session, const struct rule_definition *definition,
	struct rule_preview *preview_out);
/* end NULL: now. */
int rule_preview_ending(const struct session *session, uint64_t id, const char *end,
	struct rule_preview *preview_out);

#endif
