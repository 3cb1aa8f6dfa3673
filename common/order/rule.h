/*
 * rule - the timeout of a new order from t_timeout_rule; read anew every few seconds.
 *
 * The most specific rule that is valid now wins: the one that names the most attributes; among
 * equals the higher priority, then the younger rule.  A timeout that is NULL or 0 means never.
 */
#ifndef COMMON_ORDER_RULE_H
#define COMMON_ORDER_RULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/result.h"

struct db;
struct rules;

enum {
	RULE_ATTRIBUTE_COUNT = 4,
	RULE_ATTRIBUTE_SIZE = 64 * 4 + 1,
	RULE_MAX = 10000
};

/* tenant, channel, activity, category: the columns, in this order. */
extern const char *const rule_attribute_names[];

/* What an order says about itself; "" where it says nothing. */
struct rule_attributes {
	char values[RULE_ATTRIBUTE_COUNT][RULE_ATTRIBUTE_SIZE];
};

struct rule_match {
	uint64_t rule_id; /* 0: no rule matches */
	bool has_timeout; /* false: never */
	uint64_t timeout_ms;
};

/* Reads again when what it has is older than max_age_ms. */
void rules_create(uint64_t max_age_ms, struct rules **rules_out);
void rules_destroy(struct rules **rules);

/* The rule that wins for attributes by MySQL's time of the last reading. */
MUST_USE enum result rules_find(struct rules *rules, struct db *db,
	const struct rule_attributes *attributes, struct rule_match *match_out,
	struct error *error);

#endif
