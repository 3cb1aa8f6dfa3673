/* The place behind which a claim looks is only a hint: no row is ever left out because of it. */
#include <string.h>

#include "common/base/compiler.h"
#include "common/order/outbox.h"
#include "tests/support/direct_db.h"
#include "tests/support/query.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"

enum {
	LEASE_MS = 30000
};

static struct sandbox *sandbox;
static struct query *query;
static struct direct_db direct;
static struct error error;
static struct outbox_batch *batch;

static void set_up(void)
{
	sandbox_create(SANDBOX_NO_BROKER, &sandbox);
	query = sandbox_query(sandbox);
	direct_db_open(&direct, sandbox, NULL, NULL);
}

static void tear_down(void)
{
	outbox_batch_destroy(&batch);
	direct_db_close(&direct);
	sandbox_destroy(&sandbox);
}

static void insert_rows(int count)
{
	for (int i = 0; i < count; i++)
		query_run(query,
			"INSERT INTO t_outbox_event(event_type,order_no) "
			"VALUES ('ORDER_PAID','A%d')",
			i);
}

/* Claims two rows behind place; expected: how many there are. */
static void claim_behind(struct outbox_place *place, size_t expected)
{
	outbox_batch_destroy(&batch);
	enum result result = outbox_claim(direct.db, 2, LEASE_MS, place, &batch, &error);

	ck_assert_msg(result == (expected == 0 ? RESULT_NONE : RESULT_OK), "%s", error.text);
	ck_assert_uint_eq(batch == NULL ? 0 : batch->count, expected);
}

START_TEST(a_row_before_the_place_is_claimed_after_those_behind_it)
{
	struct outbox_place place = { .uses = 0 };

	insert_rows(5);
	claim_behind(&place, 2);
	query_run(query, "INSERT INTO t_outbox_event(event_type,order_no,available_at) "
			 "VALUES ('ORDER_PAID','EARLY','2026-01-02 03:04:05.006')");
	claim_behind(&place, 2);
	ck_assert_str_eq(batch->rows[0].order_no, "A2");
	claim_behind(&place, 1);
	ck_assert_str_eq(batch->rows[0].order_no, "A4");
	ck_assert_uint_eq(place.uses, 0);
	claim_behind(&place, 1);
	ck_assert_str_eq(batch->rows[0].order_no, "EARLY");
}
END_TEST

START_TEST(a_full_outbox_does_not_hide_the_row_before_the_place)
{
	struct outbox_place place = { .uses = 0 };
	bool is_found = false;

	insert_rows(100);
	claim_behind(&place, 2);
	query_run(query, "INSERT INTO t_outbox_event(event_type,order_no,available_at) "
			 "VALUES ('ORDER_PAID','EARLY','2026-01-02 03:04:05.006')");
	for (int i = 0; i < 20 && !is_found; i++) {
		claim_behind(&place, 2);
		is_found = strcmp(batch->rows[0].order_no, "EARLY") == 0;
	}
	ck_assert(is_found);
}
END_TEST

int main(void)
{
	static const struct runner_fixture fixture = { set_up, tear_down };
	const TTest *const tests[] = {
		a_row_before_the_place_is_claimed_after_those_behind_it,
		a_full_outbox_does_not_hide_the_row_before_the_place,
	};

	sandbox_need_servers();
	return runner_run_with("outbox_place", &fixture, tests, ARRAY_LENGTH(tests));
}
