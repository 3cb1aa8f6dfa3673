/* What a change of the timeout rules would change, asked of a real server. */
#include <stdlib.h>
#include <string.h>

#include "common/base/compiler.h"
#include "common/base/text.h"
#include "common/io/db.h"
#include "common/io/json.h"
#include "common/order/rule_change.h"
#include "common/order/rule_set.h"
#include "common/report/recent_orders.h"
#include "common/report/rule_effect.h"
#include "common/report/rule_tally.h"
#include "tests/support/claims.h"
#include "tests/support/query.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"

enum {
	LIST_SIZE = 1024,
	LIMIT_MS = 60000
};

#define DAY_MS UINT64_C(86400000)

static struct sandbox *sandbox;
static struct query *query;
static struct claims_db ours;
static struct error error;

static void set_up(void)
{
	sandbox_create(SANDBOX_NO_BROKER, &sandbox);
	query = sandbox_query(sandbox);
	claims_connect(sandbox_mysql_url(sandbox), &ours);
}

static void tear_down(void)
{
	claims_disconnect(&ours);
	sandbox_destroy(&sandbox);
}

/* The rules that most tests are about: 1 any, 2 tenant, 3 tenant and channel, 4 channel, with a
 * priority, 5 of another tenant, 6 later, 7 over. */
static void insert_rules(void)
{
	query_run(query,
		"INSERT INTO t_timeout_rule (tenant, channel, priority, timeout_seconds, "
		"valid_from, valid_to) VALUES (NULL, NULL, 0, 1800, '2020-01-01', NULL), "
		"('t', NULL, 0, 900, '2020-01-01', NULL), "
		"('t', 'app', 0, 600, '2020-01-01', NULL), "
		"(NULL, 'app', 5, 0, '2020-01-01', NULL), ('u', NULL, 0, 60, '2020-01-01', NULL), "
		"('t', NULL, 9, 120, '2099-01-01', '2099-02-01'), "
		"('t', NULL, 9, 120, '2020-01-01', '2020-02-01')");
}

/* Orders that a rule decided, some minutes ago; rule 0: none did. */
static void insert_orders(unsigned int rule, unsigned int count, unsigned int minutes)
{
	query_run(query,
		"INSERT INTO t_order (order_no, amount_cents, rule_id, created_at) SELECT "
		"CONCAT('R%u-%u-', seq), 1, NULLIF(%u, 0), UTC_TIMESTAMP(3) - INTERVAL %u MINUTE "
		"FROM seq_1_to_%u",
		rule, minutes, rule, minutes, count);
}

/* The ids of a list as "3:17 1:?", with the orders of each. */
static void write_list(const struct json *root, const char *name, char list[LIST_SIZE])
{
	const struct json *rules = json_get(root, name);

	list[0] = '\0';
	for (size_t i = 0; i < json_count(rules); i++) {
		const struct json *rule = json_at(rules, i);
		size_t used = strlen(list);
		int64_t count = 0;

		if (json_get_int(rule, "orders_24h", &count))
			(void)text_format(list + used, LIST_SIZE - used, "%s%s:%d",
				i == 0 ? "" : " ", json_get_text(rule, "id"), (int)count);
		else
			(void)text_format(list + used, LIST_SIZE - used, "%s%s:?",
				i == 0 ? "" : " ", json_get_text(rule, "id"));
	}
}

static void expect_list(const struct json *root, const char *name, const char *expected)
{
	char list[LIST_SIZE];

	write_list(root, name, list);
	ck_assert_msg(
		text_equals(list, expected), "%s is \"%s\", not \"%s\"", name, list, expected);
}

static void expect_true(const struct json *root, const char *name, bool expected)
{
	bool value = !expected;

	ck_assert_msg(json_get_bool(root, name, &value), "there is no %s", name);
	ck_assert_msg(value == expected, "%s is %d", name, value);
}

/* takes and loses as write_list. */
static void expect_adding(const struct rule_definition *definition, const char *takes,
	const char *loses, bool takes_unmatched)
{
	struct json *root = NULL;
	enum result result = rule_effect_of_adding(ours.db, definition, &root, &error);

	ck_assert_msg(result == RESULT_OK, "%s", error.text);
	expect_list(root, "takes_from", takes);
	expect_list(root, "loses_to", loses);
	expect_true(root, "takes_unmatched", takes_unmatched);
	expect_true(root, "is_cut", false);
	json_destroy(&root);
}

static struct json *ask_ending(uint64_t id, const char *end)
{
	struct json *root = NULL;
	enum result result = rule_effect_of_ending(ours.db, id, end, &root, &error);

	ck_assert_msg(result == RESULT_OK, "%s", error.text);
	return root;
}

static void expect_ending(
	uint64_t id, const char *end, const char *taken_over_by, bool leaves_unmatched)
{
	struct json *root = ask_ending(id, end);

	expect_list(root, "taken_over_by", taken_over_by);
	expect_true(root, "leaves_unmatched", leaves_unmatched);
	json_destroy(&root);
}

START_TEST(a_new_rule_takes_from_those_that_lose_to_it_down_to_one_that_covers_it)
{
	insert_rules();
	insert_orders(1, 4, 5);
	insert_orders(2, 3, 5);
	insert_orders(3, 2, 5);
	/* Of the tenant: rule 2 covers it, so nothing comes of rule 1. */
	expect_adding(&(struct rule_definition){ .values = { "t", NULL, "sale" }, .timeout_s = 60 },
		"3:2 6:0 4:0 2:3", "", false);
	expect_adding(
		&(struct rule_definition){
			.values = { "t" }, .timeout_s = 60, .valid_to = "2098-01-01 00:00:00.000" },
		"2:3", "3:2 4:0", false);
	/* In 2099 rule 6 is better, too, but not all the time. */
	expect_adding(&(struct rule_definition){ .values = { "t" }, .timeout_s = 60 }, "2:3",
		"3:2 6:0 4:0", false);
	expect_adding(&(struct rule_definition){ .values = { "x" }, .priority = 6 }, "4:0 1:4", "",
		false);
	/* What is as wide, and no rule is there for the rest. */
	expect_adding(
		&(struct rule_definition){ .priority = -1 }, "", "3:2 6:0 4:0 5:0 2:3 1:4", false);
}
END_TEST

START_TEST(a_rule_that_never_wins_says_so)
{
	struct json *root = NULL;

	insert_rules();
	const struct rule_definition idle = { .priority = -1 };
	ck_assert_int_eq(rule_effect_of_adding(ours.db, &idle, &root, &error), RESULT_OK);
	expect_true(root, "decides_nothing", true);
	json_destroy(&root);
	const struct rule_definition other = { .priority = 1 };
	ck_assert_int_eq(rule_effect_of_adding(ours.db, &other, &root, &error), RESULT_OK);
	expect_true(root, "decides_nothing", false);
	json_destroy(&root);
}
END_TEST

START_TEST(the_first_rule_takes_what_no_rule_matches)
{
	expect_adding(&(struct rule_definition){ .timeout_s = 60 }, "", "", true);
	query_run(query, "INSERT INTO t_timeout_rule (tenant) VALUES ('t')");
	expect_adding(&(struct rule_definition){ .timeout_s = 60 }, "", "1:0", true);
	/* Covered for some of the time only. */
	query_run(query, "INSERT INTO t_timeout_rule (valid_to) VALUES ('2099-01-01')");
	expect_adding(&(struct rule_definition){ .timeout_s = 60 }, "2:0", "1:0", true);
	expect_adding(
		&(struct rule_definition){ .timeout_s = 60, .valid_to = "2099-01-01 00:00:00.000" },
		"2:0", "1:0", false);
}
END_TEST

START_TEST(what_ends_is_taken_over_by_the_next_best)
{
	insert_rules();
	insert_orders(3, 5, 5);
	insert_orders(2, 1, 5);
	/* Each order of rule 3 matches rule 4, too: nothing comes to rule 2. */
	expect_ending(3, NULL, "6:0 4:0", false);
	expect_ending(3, "2099-03-01 00:00:00.000", "4:0", false);
	expect_ending(2, NULL, "1:0", false);
	expect_ending(1, NULL, "", true);
	/* What has not begun yet ends before it does: in its time. */
	expect_ending(6, NULL, "4:0 2:1", false);
	/* What is over changes nothing. */
	expect_ending(7, NULL, "", false);
	struct json *root = ask_ending(3, NULL);
	int64_t count = 0;
	ck_assert(json_get_int(json_get(root, "rule"), "orders_24h", &count));
	ck_assert_int_eq(count, 5);
	ck_assert_str_eq(json_get_text(json_get(root, "rule"), "channel"), "app");
	json_destroy(&root);
	root = ask_ending(7, NULL);
	expect_true(root, "decides_nothing", true);
	json_destroy(&root);
	ck_assert_int_eq(rule_effect_of_ending(ours.db, 99, NULL, &root, &error), RESULT_NONE);
	ck_assert_ptr_null(root);
}
END_TEST

START_TEST(what_rule_add_refuses_is_refused_here)
{
	static const struct rule_definition wrong[] = {
		{ .values = { "" } },
		{ .timeout_s = UINT64_MAX },
		{ .priority = RULE_CHANGE_PRIORITY_MAX + 1 },
		{ .valid_to = "2020-01-01 00:00:00.000" },
		{ .valid_from = "2099-01-02 00:00:00.000", .valid_to = "2099-01-01 00:00:00.000" },
	};
	struct json *root = NULL;

	for (size_t i = 0; i < ARRAY_LENGTH(wrong); i++) {
		ck_assert_int_eq(
			rule_effect_of_adding(ours.db, &wrong[i], &root, &error), RESULT_PERMANENT);
		ck_assert_ptr_null(root);
	}
}
END_TEST

START_TEST(a_long_list_is_cut_and_says_so)
{
	struct json *root = NULL;

	query_run(query,
		"INSERT INTO t_timeout_rule (tenant) SELECT CONCAT('t', seq) FROM seq_1_to_%d",
		RULE_EFFECT_MAX + 1);
	const struct rule_definition any = { .timeout_s = 60 };
	ck_assert_int_eq(rule_effect_of_adding(ours.db, &any, &root, &error), RESULT_OK);
	ck_assert_uint_eq(json_count(json_get(root, "loses_to")), RULE_EFFECT_MAX);
	expect_true(root, "is_cut", true);
	json_destroy(&root);
}
END_TEST

START_TEST(a_rule_set_changes_with_each_act_and_not_by_itself)
{
	static const char *const changes[] = {
		"INSERT INTO t_timeout_rule (tenant) VALUES ('t')",
		"INSERT INTO t_timeout_rule (channel) VALUES ('t')",
		"UPDATE t_timeout_rule SET valid_to = '2099-01-01' WHERE id = 1",
		"UPDATE t_timeout_rule SET valid_to = '2098-01-01' WHERE id = 1",
		"UPDATE t_timeout_rule SET timeout_seconds = 7 WHERE id = 2",
		"UPDATE t_timeout_rule SET channel = NULL, activity = 't' WHERE id = 2",
		"DELETE FROM t_timeout_rule WHERE id = 2",
	};
	char before[RULE_SET_SIZE];
	char after[RULE_SET_SIZE];

	ck_assert_int_eq(rule_set_read(ours.db, before, &error), RESULT_OK);
	for (size_t i = 0; i < ARRAY_LENGTH(changes); i++) {
		query_run(query, "%s", changes[i]);
		ck_assert_int_eq(rule_set_read(ours.db, after, &error), RESULT_OK);
		ck_assert_msg(!text_equals(before, after), "%s", changes[i]);
		ck_assert_int_eq(rule_set_read(ours.db, before, &error), RESULT_OK);
		ck_assert_str_eq(before, after);
	}
}
END_TEST

/* ---- counting */

static uint64_t find_first(void)
{
	uint64_t first = 0;

	ck_assert_int_eq(recent_orders_find(ours.db, DAY_MS, LIMIT_MS, &first, &error), RESULT_OK);
	return first;
}

START_TEST(the_orders_of_a_day_begin_behind_all_that_are_older)
{
	ck_assert_uint_eq(find_first(), 0);
	insert_orders(1, 3, 1);
	ck_assert_uint_eq(find_first(), 0);
	query_run(query, "UPDATE t_order SET created_at = UTC_TIMESTAMP(3) - INTERVAL 2 DAY");
	insert_orders(1, 1, 2);
	/* Where ids are missing it may be one too few, never one too many. */
	uint64_t last =
		(uint64_t)query_number(query, "SELECT MAX(id) FROM t_order WHERE "
					      "created_at < UTC_TIMESTAMP(3) - INTERVAL 1 DAY");
	ck_assert_uint_le(find_first(), last);
	ck_assert_uint_ge(find_first() + 1, last);
	query_run(query, "UPDATE t_order SET created_at = UTC_TIMESTAMP(3) - INTERVAL 2 DAY");
	ck_assert_uint_ge(
		find_first() + 1, (uint64_t)query_number(query, "SELECT MAX(id) FROM t_order"));
	/* Far ids, with nothing in between. */
	query_run(query, "UPDATE t_order SET id = 9000000000000000000 + id, created_at = "
			 "UTC_TIMESTAMP(3) ORDER BY id DESC LIMIT 2");
	ck_assert_uint_ge(find_first(), 1);
	ck_assert_uint_le(find_first(), UINT64_C(9000000000000000000));
}
END_TEST

static void expect_count(uint64_t rule_id, bool is_known, uint64_t expected)
{
	struct rule_tally *tally = NULL;
	uint64_t count = 99;

	ck_assert_int_eq(rule_tally_read(ours.db, &tally, &error), RESULT_OK);
	ck_assert(rule_tally_find(tally, rule_id, &count) == is_known);
	if (is_known)
		ck_assert_uint_eq(count, expected);
	rule_tally_destroy(&tally);
	ck_assert_ptr_null(tally);
	rule_tally_destroy(&tally);
}

START_TEST(each_rule_counts_what_it_decided_in_a_day)
{
	expect_count(1, true, 0);
	insert_orders(1, 7, 60 * 24 + 5);
	insert_orders(1, 2, 60 * 24 - 5);
	insert_orders(2, 3, 60);
	insert_orders(0, 4, 60);
	insert_orders(1, 1, 1);
	/* Out of order: an old one that was written late. */
	insert_orders(1, 5, 60 * 25);
	expect_count(1, true, 3);
	expect_count(2, true, 3);
	expect_count(3, true, 0);
}
END_TEST

START_TEST(what_takes_too_long_to_count_is_unknown_and_never_0)
{
	insert_rules();
	insert_orders(1, 8, 5);
	/* A view in place of the table, in which reading a row takes a second. */
	query_run(query, "RENAME TABLE t_order TO t_real; CREATE VIEW t_order AS SELECT id, "
			 "IF(SLEEP(1) = 0, created_at, NULL) AS created_at, rule_id FROM t_real");
	expect_count(1, false, 0);
	/* The rest of the answer is there. */
	expect_ending(2, NULL, "1:?", false);
	query_run(query, "DROP VIEW t_order; RENAME TABLE t_real TO t_order");
	expect_count(1, true, 8);
}
END_TEST

START_TEST(a_count_without_a_server_is_a_failure)
{
	struct rule_tally *tally = NULL;

	db_disconnect(ours.db);
	ck_assert_int_eq(rule_tally_read(ours.db, &tally, &error), RESULT_TEMPORARY);
	ck_assert_ptr_null(tally);
}
END_TEST

int main(void)
{
	static const struct runner_fixture fixture = { set_up, tear_down };
	const TTest *const tests[] = {
		a_new_rule_takes_from_those_that_lose_to_it_down_to_one_that_covers_it,
		a_rule_that_never_wins_says_so,
		the_first_rule_takes_what_no_rule_matches,
		what_ends_is_taken_over_by_the_next_best,
		what_rule_add_refuses_is_refused_here,
		a_long_list_is_cut_and_says_so,
		a_rule_set_changes_with_each_act_and_not_by_itself,
		the_orders_of_a_day_begin_behind_all_that_are_older,
		each_rule_counts_what_it_decided_in_a_day,
		what_takes_too_long_to_count_is_unknown_and_never_0,
		a_count_without_a_server_is_a_failure,
	};

	sandbox_need_servers();
	return runner_run_with("rule_effect", &fixture, tests, ARRAY_LENGTH(tests));
}
