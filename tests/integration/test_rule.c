/* Which timeout the rules of a real server give. */
#include <string.h>

#include "common/base/text.h"
#include "common/io/db.h"
#include "common/order/rule.h"
#include "tests/support/direct_db.h"
#include "tests/support/query.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"
#include "tests/support/wait_until.h"

enum {
	GATEWAY_MAX_AGE_MS = 3000,
	SEEN_WITHIN_MS = 5000 /* what the contract promises */
};

static struct sandbox *sandbox;
static struct query *query;
static struct direct_db direct;
static struct rules *rules;

static void set_up(void)
{
	sandbox_create(SANDBOX_NO_BROKER, &sandbox);
	query = sandbox_query(sandbox);
	direct_db_open(&direct, sandbox, NULL, NULL);
	rules_create(0, &rules); /* read anew for each question */
}

static void tear_down(void)
{
	rules_destroy(&rules);
	direct_db_close(&direct);
	sandbox_destroy(&sandbox);
}

/* columns and values as in an INSERT. */
static void add(const char *columns, const char *values)
{
	query_run(query, "INSERT INTO t_timeout_rule(%s) VALUES (%s)", columns, values);
}

/* attributes: in the order of the columns, NULL and what is behind the last: says nothing. */
static struct rule_match find(const char *const *values, size_t count)
{
	struct rule_attributes attributes = { 0 };
	struct rule_match match = { .rule_id = 0 };
	struct error error = { .text = "" };

	for (size_t i = 0; i < count; i++)
		if (values[i] != NULL)
			(void)text_copy(attributes.values[i], RULE_ATTRIBUTE_SIZE, values[i]);
	enum result result = rules_find(rules, direct.db, &attributes, &match, &error);
	ck_assert_msg(result == RESULT_OK, "rules_find: %s", error.text);
	return match;
}

#define FIND(...) \
	find((const char *const[]){ __VA_ARGS__ }, ARRAY_LENGTH(((const char *[]){ __VA_ARGS__ })))

START_TEST(without_rules_an_order_never_times_out)
{
	struct rule_match match = FIND("t");

	ck_assert(match.rule_id == 0 && !match.has_timeout);
}
END_TEST

START_TEST(the_rule_that_names_most_attributes_wins)
{
	add("timeout_seconds, priority", "60, 100");
	add("tenant, timeout_seconds, priority", "'t', 120, 50");
	add("tenant, channel, timeout_seconds", "'t', 'app', 180");
	add("tenant, channel, category, timeout_seconds, priority", "'t', 'app', 'food', 240, -5");
	add("tenant, channel, activity, category, timeout_seconds", "'t', 'app', 'x', 'food', 300");
	ck_assert_uint_eq(FIND("other").timeout_ms, 60000);
	ck_assert_uint_eq(FIND("t").timeout_ms, 120000);
	ck_assert_uint_eq(FIND("t", "web").timeout_ms, 120000);
	ck_assert_uint_eq(FIND("t", "app").timeout_ms, 180000);
	ck_assert_uint_eq(FIND("t", "app", NULL, "food").timeout_ms, 240000);
	ck_assert_uint_eq(FIND("t", "app", "y", "food").timeout_ms, 240000);
	ck_assert_uint_eq(FIND("t", "app", "x", "food").timeout_ms, 300000);
	ck_assert_uint_eq(FIND(NULL, "app", "x", "food").timeout_ms, 60000);
}
END_TEST

START_TEST(among_equals_the_higher_priority_wins_then_the_younger_rule)
{
	add("tenant, timeout_seconds, priority", "'t', 1, 0");
	add("channel, timeout_seconds, priority", "'app', 2, 10");
	add("activity, timeout_seconds, priority", "'x', 3, 10");
	add("category, timeout_seconds, priority", "'food', 4, -1");
	ck_assert_uint_eq(FIND("t", "app", "x", "food").timeout_ms, 3000);
	ck_assert_uint_eq(FIND("t", "app", NULL, "food").timeout_ms, 2000);
	ck_assert_uint_eq(FIND("t", NULL, NULL, "food").timeout_ms, 1000);
	ck_assert_uint_eq(FIND(NULL, NULL, NULL, "food").timeout_ms, 4000);
}
END_TEST

START_TEST(values_are_compared_byte_by_byte)
{
	add("tenant, timeout_seconds", "'Café', 60");
	ck_assert_uint_ne(FIND("Café").rule_id, 0);
	ck_assert_uint_eq(FIND("café").rule_id, 0);
	ck_assert_uint_eq(FIND("Café ").rule_id, 0);
	ck_assert_uint_eq(FIND("Cafe").rule_id, 0);
}
END_TEST

/* CS-8 */
START_TEST(a_timeout_that_is_null_or_0_means_never)
{
	add("timeout_seconds", "60");
	add("tenant, timeout_seconds", "'null', NULL");
	add("tenant, timeout_seconds", "'zero', 0");
	struct rule_match match = FIND("null");
	ck_assert(match.rule_id != 0 && !match.has_timeout);
	match = FIND("zero");
	ck_assert(match.rule_id != 0 && !match.has_timeout);
	ck_assert(FIND("other").has_timeout);
}
END_TEST

START_TEST(the_longest_timeout_fits)
{
	add("timeout_seconds", "4294967295");
	ck_assert_uint_eq(FIND("t").timeout_ms, UINT64_C(4294967295000));
}
END_TEST

START_TEST(a_rule_is_valid_from_and_to_its_times)
{
	add("timeout_seconds, tenant, valid_from",
		"1, 'future', UTC_TIMESTAMP(3) + INTERVAL 1 HOUR");
	add("timeout_seconds, tenant, valid_from, valid_to",
		"2, 'past', UTC_TIMESTAMP(3) - INTERVAL 2 HOUR, UTC_TIMESTAMP(3)");
	add("timeout_seconds, tenant, valid_from, valid_to",
		"3, 'now', UTC_TIMESTAMP(3) - INTERVAL 1 HOUR, UTC_TIMESTAMP(3) + INTERVAL 1 HOUR");
	add("timeout_seconds, tenant, valid_from",
		"4, 'ever', UTC_TIMESTAMP(3) - INTERVAL 1 SECOND");
	ck_assert_uint_eq(FIND("future").rule_id, 0);
	ck_assert_uint_eq(FIND("past").rule_id, 0);
	ck_assert_uint_eq(FIND("now").timeout_ms, 3000);
	ck_assert_uint_eq(FIND("ever").timeout_ms, 4000);
}
END_TEST

static bool soon_is_valid(void *context)
{
	(void)context;
	return FIND("soon").rule_id != 0;
}

static bool ending_is_over(void *context)
{
	(void)context;
	return FIND("ending").rule_id == 0;
}

/* What was read before knows when it begins and ends. */
START_TEST(a_rule_begins_and_ends_without_being_read_anew)
{
	rules_destroy(&rules);
	rules_create(3600000, &rules);
	add("timeout_seconds, tenant, valid_from",
		"1, 'soon', UTC_TIMESTAMP(3) + INTERVAL 1 SECOND");
	add("timeout_seconds, tenant, valid_to",
		"1, 'ending', UTC_TIMESTAMP(3) + INTERVAL 1 SECOND");
	ck_assert_uint_eq(FIND("soon").rule_id, 0);
	ck_assert_uint_ne(FIND("ending").rule_id, 0);
	query_run(query, "DELETE FROM t_timeout_rule");
	WAIT_UNTIL(soon_is_valid, NULL);
	WAIT_UNTIL(ending_is_over, NULL);
}
END_TEST

static bool change_is_seen(void *context)
{
	(void)context;
	return FIND("t").timeout_ms == 120000;
}

START_TEST(a_change_is_seen_within_five_seconds)
{
	rules_destroy(&rules);
	rules_create(GATEWAY_MAX_AGE_MS, &rules);
	add("timeout_seconds", "60");
	ck_assert_uint_eq(FIND("t").timeout_ms, 60000);
	add("tenant, timeout_seconds", "'t', 120");
	WAIT_UNTIL_WITHIN(change_is_seen, NULL, SEEN_WITHIN_MS);
}
END_TEST

START_TEST(rules_that_cannot_be_read_are_said_so)
{
	struct rule_attributes attributes = { 0 };
	struct rule_match match = { .rule_id = 0 };
	struct error error = { .text = "" };

	query_run(query, "RENAME TABLE t_timeout_rule TO t_away");
	ck_assert_int_eq(
		rules_find(rules, direct.db, &attributes, &match, &error), RESULT_TEMPORARY);
	ck_assert_str_ne(error.text, "");
}
END_TEST

int main(void)
{
	const struct runner_fixture fixture = { set_up, tear_down };
	const TTest *const tests[] = {
		without_rules_an_order_never_times_out,
		the_rule_that_names_most_attributes_wins,
		among_equals_the_higher_priority_wins_then_the_younger_rule,
		values_are_compared_byte_by_byte,
		a_timeout_that_is_null_or_0_means_never,
		the_longest_timeout_fits,
		a_rule_is_valid_from_and_to_its_times,
		a_rule_begins_and_ends_without_being_read_anew,
		a_change_is_seen_within_five_seconds,
		rules_that_cannot_be_read_are_said_so,
	};

	sandbox_need_servers();
	return runner_run_with("rule", &fixture, tests, ARRAY_LENGTH(tests));
}
