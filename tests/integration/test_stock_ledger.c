/*
 * The ledger of lapse-stock on a real database: stock moves once per key, whoever asks how often.
 */
#include <stdlib.h>
#include <string.h>

#include <check.h>

#include "common/base/compiler.h"
#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/io/db.h"
#include "common/io/json.h"
#include "demo/stock/ledger.h"
#include "tests/support/query.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"

enum {
	MANY = 1237, /* no power of two, not one statement */
};

static struct sandbox *sandbox;
static struct db *db;
static struct db_settings settings = { .lock_wait_ms = 2000 };

static struct db *connect(void)
{
	struct db *connection = NULL;
	struct error error = { 0 };

	db_create(&settings, &connection);
	db_skip_schema_check(connection);
	ck_assert_msg(db_ensure_connected(connection, &error) == RESULT_OK, "%s", error.text);
	return connection;
}

static void set_up(void)
{
	struct error error = { 0 };

	sandbox_create(SANDBOX_NO_SCHEMA | SANDBOX_NO_BROKER, &sandbox);
	settings.url = memory_copy_text(sandbox_mysql_url(sandbox));
	db = connect();
	ck_assert_msg(ledger_create_tables(db, &error) == RESULT_OK, "%s", error.text);
	ck_assert_int_eq(ledger_create_tables(db, &error), RESULT_OK);
	ck_assert_int_eq(ledger_set_stock(db, "SKU-1", 10, &error), RESULT_OK);
	ck_assert_int_eq(ledger_set_stock(db, "SKU-2", 20, &error), RESULT_OK);
}

static void tear_down(void)
{
	db_destroy(&db);
	free(settings.url);
	settings.url = NULL;
	sandbox_destroy(&sandbox);
}

static struct ledger_move make_move(const char *key, const char *sku_id, uint32_t quantity)
{
	struct ledger_move move = { .order_no = "A1", .quantity = quantity };

	(void)text_copy(move.key, sizeof(move.key), key);
	(void)text_copy(move.sku_id, sizeof(move.sku_id), sku_id);
	return move;
}

static enum ledger_outcome apply_one(
	enum ledger_kind kind, const char *key, const char *sku_id, uint32_t quantity)
{
	struct ledger_move move = make_move(key, sku_id, quantity);
	struct error error = { 0 };

	ck_assert_msg(ledger_apply(db, kind, &move, 1, &error) == RESULT_OK, "%s", error.text);
	return move.outcome;
}

static int64_t stock_of(const char *sku_id)
{
	struct error error = { 0 };
	int64_t quantity = -1;

	ck_assert_int_eq(ledger_find_stock(db, sku_id, &quantity, &error), RESULT_OK);
	return quantity;
}

START_TEST(a_key_moves_stock_once)
{
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(apply_one(LEDGER_KIND_RESTORE, "r:1", "SKU-1", 2),
			i == 0 ? LEDGER_OUTCOME_APPLIED : LEDGER_OUTCOME_REPEATED);
	ck_assert_int_eq(stock_of("SKU-1"), 12);
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(apply_one(LEDGER_KIND_RESERVE, "t:1", "SKU-1", 5),
			i == 0 ? LEDGER_OUTCOME_APPLIED : LEDGER_OUTCOME_REPEATED);
	ck_assert_int_eq(stock_of("SKU-1"), 7);
}
END_TEST

START_TEST(a_key_with_other_content_is_refused)
{
	ck_assert_int_eq(apply_one(LEDGER_KIND_RESTORE, "r:1", "SKU-1", 2), LEDGER_OUTCOME_APPLIED);
	ck_assert_int_eq(apply_one(LEDGER_KIND_RESTORE, "r:1", "SKU-1", 3), LEDGER_OUTCOME_REUSED);
	ck_assert_int_eq(apply_one(LEDGER_KIND_RESTORE, "r:1", "SKU-2", 2), LEDGER_OUTCOME_REUSED);
	ck_assert_int_eq(apply_one(LEDGER_KIND_RESERVE, "r:1", "SKU-1", 2), LEDGER_OUTCOME_REUSED);
	ck_assert_int_eq(stock_of("SKU-1"), 12);
	ck_assert_int_eq(stock_of("SKU-2"), 20);
}
END_TEST

START_TEST(case_makes_another_key_and_another_sku)
{
	ck_assert_int_eq(apply_one(LEDGER_KIND_RESTORE, "r:a", "SKU-1", 2), LEDGER_OUTCOME_APPLIED);
	ck_assert_int_eq(apply_one(LEDGER_KIND_RESTORE, "R:a", "SKU-1", 2), LEDGER_OUTCOME_APPLIED);
	ck_assert_int_eq(
		apply_one(LEDGER_KIND_RESTORE, "r:b", "sku-1", 2), LEDGER_OUTCOME_UNKNOWN_SKU);
	ck_assert_int_eq(stock_of("SKU-1"), 14);
}
END_TEST

START_TEST(what_is_not_there_cannot_be_reserved)
{
	ck_assert_int_eq(apply_one(LEDGER_KIND_RESERVE, "t:1", "SKU-1", 11), LEDGER_OUTCOME_SHORT);
	ck_assert_int_eq(stock_of("SKU-1"), 10);
	/* Nothing was remembered, so the same key works when there is enough. */
	ck_assert_int_eq(apply_one(LEDGER_KIND_RESTORE, "r:1", "SKU-1", 1), LEDGER_OUTCOME_APPLIED);
	ck_assert_int_eq(
		apply_one(LEDGER_KIND_RESERVE, "t:1", "SKU-1", 11), LEDGER_OUTCOME_APPLIED);
	ck_assert_int_eq(stock_of("SKU-1"), 0);
	ck_assert_int_eq(
		apply_one(LEDGER_KIND_RESERVE, "t:2", "NOPE", 1), LEDGER_OUTCOME_UNKNOWN_SKU);
}
END_TEST

START_TEST(a_list_is_decided_entry_by_entry)
{
	static const enum ledger_outcome expected[] = {
		LEDGER_OUTCOME_APPLIED,
		LEDGER_OUTCOME_REPEATED,
		LEDGER_OUTCOME_REUSED,
		LEDGER_OUTCOME_UNKNOWN_SKU,
		LEDGER_OUTCOME_UNKNOWN_SKU,
		LEDGER_OUTCOME_REPEATED,
		LEDGER_OUTCOME_APPLIED,
	};
	struct error error = { 0 };

	ck_assert_int_eq(apply_one(LEDGER_KIND_RESTORE, "old", "SKU-2", 1), LEDGER_OUTCOME_APPLIED);
	struct ledger_move moves[] = {
		make_move("new", "SKU-1", 1),
		make_move("new", "SKU-1", 1),
		make_move("new", "SKU-1", 2),
		make_move("unknown", "NOPE", 1),
		make_move("unknown", "NOPE", 1),
		make_move("old", "SKU-2", 1),
		make_move("another", "SKU-1", 4),
	};
	ck_assert_int_eq(ledger_apply(db, LEDGER_KIND_RESTORE, moves, ARRAY_LENGTH(moves), &error),
		RESULT_OK);
	for (size_t i = 0; i < ARRAY_LENGTH(moves); i++)
		ck_assert_msg(moves[i].outcome == expected[i], "entry %zu", i);
	ck_assert_int_eq(stock_of("SKU-1"), 15);
	ck_assert_int_eq(stock_of("SKU-2"), 21);
}
END_TEST

START_TEST(a_list_takes_no_more_than_there_is)
{
	struct ledger_move moves[] = {
		make_move("t:1", "SKU-1", 6),
		make_move("t:2", "SKU-1", 6),
		make_move("t:3", "SKU-1", 4),
	};
	struct error error = { 0 };

	ck_assert_int_eq(ledger_apply(db, LEDGER_KIND_RESERVE, moves, ARRAY_LENGTH(moves), &error),
		RESULT_OK);
	ck_assert_int_eq(moves[0].outcome, LEDGER_OUTCOME_APPLIED);
	ck_assert_int_eq(moves[1].outcome, LEDGER_OUTCOME_SHORT);
	ck_assert_int_eq(moves[2].outcome, LEDGER_OUTCOME_APPLIED);
	ck_assert_int_eq(stock_of("SKU-1"), 0);
}
END_TEST

START_TEST(a_long_list_is_applied_whole_and_once)
{
	struct ledger_move *moves = memory_allocate_array(MANY, sizeof(*moves));
	struct query *query = sandbox_query(sandbox);
	struct error error = { 0 };
	char key[32];

	for (int turn = 0; turn < 2; turn++) {
		for (unsigned int i = 0; i < MANY; i++) {
			(void)text_format(key, sizeof(key), "restore:A1:%u", i);
			moves[i] = make_move(key, i % 2 == 0 ? "SKU-1" : "SKU-2", 1);
		}
		ck_assert_msg(
			ledger_apply(db, LEDGER_KIND_RESTORE, moves, MANY, &error) == RESULT_OK,
			"%s", error.text);
	}
	ck_assert_int_eq(moves[MANY - 1].outcome, LEDGER_OUTCOME_REPEATED);
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_stock_ledger"), MANY);
	ck_assert_int_eq(query_number(query, "SELECT SUM(quantity) FROM t_stock"), 30 + MANY);
	free(moves);
}
END_TEST

/* Another program has written the key and not committed yet. */
START_TEST(a_key_that_is_being_written_is_waited_for)
{
	struct query *query = sandbox_query(sandbox);
	struct ledger_move move = make_move("r:1", "SKU-1", 2);
	struct error error = { 0 };

	query_run(query, "SET innodb_lock_wait_timeout = 1; START TRANSACTION; "
			 "INSERT INTO t_stock_ledger(idempotency_key, sku_id, order_no, quantity, "
			 "kind) VALUES ('r:1', 'SKU-1', 'A1', 2, 'restore')");
	settings.lock_wait_ms = 1000;
	struct db *other = connect();
	ck_assert_int_ne(ledger_apply(other, LEDGER_KIND_RESTORE, &move, 1, &error), RESULT_OK);
	query_run(query, "COMMIT");
	ck_assert_int_eq(ledger_apply(other, LEDGER_KIND_RESTORE, &move, 1, &error), RESULT_OK);
	ck_assert_int_eq(move.outcome, LEDGER_OUTCOME_REPEATED);
	ck_assert_int_eq(stock_of("SKU-1"), 10);
	settings.lock_wait_ms = 2000;
	db_destroy(&other);
}
END_TEST

START_TEST(movements_and_stock_can_be_listed)
{
	struct json *list = NULL;
	struct error error = { 0 };

	ck_assert_int_eq(apply_one(LEDGER_KIND_RESTORE, "r:1", "SKU-1", 2), LEDGER_OUTCOME_APPLIED);
	ck_assert_int_eq(ledger_list_moves(db, "A1", &list, &error), RESULT_OK);
	ck_assert_uint_eq(json_count(list), 1);
	ck_assert_str_eq(json_get_text(json_at(list, 0), "kind"), "restore");
	const char *at = json_get_text(json_at(list, 0), "at");
	ck_assert_uint_eq(strlen(at), strlen("2026-01-31T10:21:03.120Z"));
	json_destroy(&list);
	ck_assert_int_eq(ledger_list_moves(db, "B1", &list, &error), RESULT_OK);
	ck_assert_uint_eq(json_count(list), 0);
	json_destroy(&list);
	ck_assert_int_eq(ledger_list_stock(db, "SKU-1", &list, &error), RESULT_OK);
	ck_assert_uint_eq(json_count(list), 1);
	ck_assert_str_eq(json_get_text(json_at(list, 0), "sku_id"), "SKU-2");
	json_destroy(&list);
}
END_TEST

int main(void)
{
	static const struct runner_fixture fixture = { set_up, tear_down };
	const TTest *const tests[] = {
		a_key_moves_stock_once,
		a_key_with_other_content_is_refused,
		case_makes_another_key_and_another_sku,
		what_is_not_there_cannot_be_reserved,
		a_list_is_decided_entry_by_entry,
		a_list_takes_no_more_than_there_is,
		a_long_list_is_applied_whole_and_once,
		a_key_that_is_being_written_is_waited_for,
		movements_and_stock_can_be_listed,
	};

	sandbox_need_servers();
	return runner_run_with("stock_ledger", &fixture, tests, ARRAY_LENGTH(tests));
}
