/*
 * rule - rule list, add, expire: the timeouts of new orders, changed while everything runs.
 */
#ifndef CTL_RULE_H
#define CTL_RULE_H

#include <stdint.h>

#include "common/order/rule.h"

struct session;
struct table;

/* The value given for attribute number i; NULL: none. */
const char *rule_attribute(const struct session *session, size_t i);
/* "30m" or "never" in seconds, 0 for never; PERMANENT with words. */
MUST_USE enum result rule_read_timeout(
	const struct session *session, uint64_t *seconds_out, struct error *error);

/* The rows of a list for people; sql_tail stands behind FROM t_timeout_rule and may have one ?. */
MUST_USE enum result rule_fill_table(const struct session *session, const char *sql_tail,
	const uint64_t *param, struct table *table, struct error *error);
MUST_USE struct table *rule_create_table(void);

int rule_list_run(const struct session *session);
int rule_add_run(const struct session *session);
int rule_end_run(const struct session *session);

#endif
