#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "consumer/batch.h"
#include "tests/support/runner.h"

enum {
	CAPACITY = 5
};

static struct batch *batch;
static struct broker_delivery *delivery;

static void set_up(void)
{
	batch_create(CAPACITY, &batch);
	delivery = memory_allocate(sizeof(*delivery));
}

static void tear_down(void)
{
	batch_destroy(&batch);
	batch_destroy(&batch);
	free(delivery);
}

static struct batch_entry *add(uint64_t tag, enum batch_state state)
{
	struct batch_entry *entry = batch_add(batch, tag);

	batch_set_state(batch, entry, state);
	return entry;
}

static void expect_settled(bool is_any, uint64_t last_tag, size_t count)
{
	uint64_t tag = 0;
	size_t taken = 0;

	ck_assert(batch_take_settled(batch, &tag, &taken) == is_any);
	ck_assert_uint_eq(taken, count);
	if (is_any)
		ck_assert_uint_eq(tag, last_tag);
}

START_TEST(a_new_delivery_is_ready_at_once)
{
	struct batch_entry *entry = batch_add(batch, 7);

	ck_assert_uint_eq(entry->tag, 7);
	ck_assert_int_eq(entry->state, BATCH_STATE_WAITING);
	ck_assert_str_eq(entry->order_no, "");
	ck_assert_uint_eq(batch_wake(batch, 0), UINT64_MAX);
	ck_assert_int_eq(entry->state, BATCH_STATE_READY);
	ck_assert_uint_eq(batch_count_state(batch, BATCH_STATE_READY), 1);
	ck_assert_uint_eq(batch_count_state(batch, BATCH_STATE_WAITING), 0);
}
END_TEST

START_TEST(what_waits_is_woken_at_its_time)
{
	batch_add(batch, 1)->until_ms = 300;
	batch_add(batch, 2)->until_ms = 100;
	batch_add(batch, 3)->until_ms = 200;
	ck_assert_uint_eq(batch_wake(batch, 99), 100);
	ck_assert_uint_eq(batch_count_state(batch, BATCH_STATE_READY), 0);
	ck_assert_uint_eq(batch_wake(batch, 100), 200);
	ck_assert_int_eq(batch_at(batch, 1)->state, BATCH_STATE_READY);
	ck_assert_uint_eq(batch_wake(batch, 1000), UINT64_MAX);
	ck_assert_uint_eq(batch_count_state(batch, BATCH_STATE_READY), 3);
}
END_TEST

START_TEST(only_the_settled_part_at_the_start_may_be_acked)
{
	struct batch_entry *second = NULL;

	add(11, BATCH_STATE_SETTLED);
	second = add(12, BATCH_STATE_READY);
	add(13, BATCH_STATE_SETTLED);
	expect_settled(true, 11, 1);
	expect_settled(false, 0, 0);
	batch_set_state(batch, second, BATCH_STATE_SETTLED);
	expect_settled(true, 13, 2);
	ck_assert_uint_eq(batch_count(batch), 0);
	ck_assert_uint_eq(batch_count_state(batch, BATCH_STATE_SETTLED), 0);
}
END_TEST

START_TEST(a_tag_that_was_given_back_is_never_used)
{
	uint64_t tag = 0;

	add(1, BATCH_STATE_GIVEN_BACK);
	expect_settled(false, 0, 0);
	ck_assert_uint_eq(batch_count(batch), 0);
	add(2, BATCH_STATE_SETTLED);
	add(3, BATCH_STATE_GIVEN_BACK);
	add(4, BATCH_STATE_READY);
	add(5, BATCH_STATE_GIVEN_BACK);
	ck_assert(batch_find_last_tag(batch, &tag));
	ck_assert_uint_eq(tag, 4);
	expect_settled(true, 2, 1);
	ck_assert_uint_eq(batch_count(batch), 2);
	batch_set_state(batch, batch_at(batch, 0), BATCH_STATE_GIVEN_BACK);
	ck_assert(!batch_find_last_tag(batch, &tag));
}
END_TEST

START_TEST(the_ring_goes_round)
{
	for (uint64_t tag = 1; tag <= 100; tag++) {
		while (batch_is_full(batch))
			expect_settled(true, batch_at(batch, 0)->tag, 1);
		add(tag, BATCH_STATE_READY);
		ck_assert_uint_eq(batch_at(batch, batch_count(batch) - 1)->tag, tag);
		batch_set_state(batch, batch_at(batch, 0), BATCH_STATE_SETTLED);
	}
	ck_assert_uint_eq(batch_count(batch), CAPACITY);
}
END_TEST

START_TEST(a_handle_finds_its_delivery_as_long_as_it_is_in_hand)
{
	uint64_t handles[3];

	for (uint64_t i = 0; i < 3; i++)
		handles[i] = batch_handle(batch, add(i + 1, BATCH_STATE_PUBLISHED));
	ck_assert_ptr_eq(batch_find(batch, handles[1]), batch_at(batch, 1));
	batch_set_state(batch, batch_at(batch, 0), BATCH_STATE_SETTLED);
	expect_settled(true, 1, 1);
	ck_assert_ptr_null(batch_find(batch, handles[0]));
	ck_assert_uint_eq(batch_find(batch, handles[2])->tag, 3);
	batch_reset(batch);
	ck_assert_ptr_null(batch_find(batch, handles[2]));
	ck_assert_uint_ne(batch_handle(batch, add(1, BATCH_STATE_READY)), handles[0]);
	ck_assert_ptr_null(batch_find(batch, 99));
}
END_TEST

START_TEST(a_lost_connection_leaves_nothing)
{
	for (uint64_t tag = 1; tag <= CAPACITY; tag++)
		add(tag, BATCH_STATE_READY);
	ck_assert(batch_is_full(batch));
	batch_reset(batch);
	ck_assert_uint_eq(batch_count(batch), 0);
	ck_assert_uint_eq(batch_count_state(batch, BATCH_STATE_READY), 0);
	expect_settled(false, 0, 0);
	add(1, BATCH_STATE_SETTLED);
	expect_settled(true, 1, 1);
}
END_TEST

START_TEST(originals_are_kept_up_to_a_limit)
{
	uint8_t *body = memory_allocate(BROKER_BODY_MAX);
	size_t kept = 0;

	delivery->body = body;
	delivery->body_size = BROKER_BODY_MAX;
	delivery->type[0] = 't';
	memset(body, 'x', BROKER_BODY_MAX);
	while (kept < CAPACITY && batch_keep_original(batch, batch_add(batch, kept + 1), delivery))
		kept++;
	ck_assert_uint_eq(kept, BATCH_ORIGINALS_MAX / BROKER_BODY_MAX - 1);
	ck_assert_uint_eq(batch_at(batch, 0)->original->body_size, BROKER_BODY_MAX);
	ck_assert_mem_eq(batch_at(batch, 0)->original->body, body, BROKER_BODY_MAX);
	ck_assert_str_eq(batch_at(batch, 0)->original->type, "t");
	ck_assert_ptr_null(batch_at(batch, kept)->original);
	/* What is settled makes room again. */
	batch_set_state(batch, batch_at(batch, 0), BATCH_STATE_SETTLED);
	expect_settled(true, 1, 1);
	ck_assert(batch_keep_original(batch, batch_add(batch, 9), delivery));
	batch_reset(batch);
	delivery->body = NULL;
	delivery->body_size = 0;
	ck_assert(batch_keep_original(batch, batch_add(batch, 10), delivery));
	free(body);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		a_new_delivery_is_ready_at_once,
		what_waits_is_woken_at_its_time,
		only_the_settled_part_at_the_start_may_be_acked,
		a_tag_that_was_given_back_is_never_used,
		the_ring_goes_round,
		a_handle_finds_its_delivery_as_long_as_it_is_in_hand,
		a_lost_connection_leaves_nothing,
		originals_are_kept_up_to_a_limit,
	};
	const struct runner_fixture fixture = { set_up, tear_down };

	return runner_run_with("batch", &fixture, tests, ARRAY_LENGTH(tests));
}
