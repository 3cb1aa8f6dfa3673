#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/base/result.h"
#include "tests/support/child.h"
#include "tests/support/runner.h"

START_TEST(memory_comes_zeroed)
{
	unsigned char *bytes = memory_allocate(1000);
	uint64_t *numbers = memory_allocate_array(1000, sizeof(*numbers));

	for (size_t i = 0; i < 1000; i++) {
		ck_assert_uint_eq(bytes[i], 0);
		ck_assert_uint_eq(numbers[i], 0);
	}
	free(bytes);
	free(numbers);
}
END_TEST

START_TEST(no_bytes_are_memory_too)
{
	void *nothing = memory_allocate(0);
	void *none = memory_allocate_array(0, 8);
	void *empty = memory_allocate_array(8, 0);

	ck_assert_ptr_nonnull(nothing);
	ck_assert_ptr_nonnull(none);
	ck_assert_ptr_nonnull(empty);
	free(nothing);
	free(none);
	free(empty);
}
END_TEST

START_TEST(a_grown_array_keeps_what_was_in_it)
{
	int *numbers = memory_resize_array(NULL, 2, sizeof(*numbers));

	numbers[0] = 1;
	numbers[1] = 2;
	numbers = memory_resize_array(numbers, 10000, sizeof(*numbers));
	ck_assert_int_eq(numbers[0], 1);
	ck_assert_int_eq(numbers[1], 2);
	numbers = memory_resize_array(numbers, 0, sizeof(*numbers));
	ck_assert_ptr_nonnull(numbers);
	free(numbers);
}
END_TEST

START_TEST(a_copied_text_is_another_one)
{
	char text[] = "abc";
	char *copy = memory_copy_text(text);

	text[0] = 'x';
	ck_assert_str_eq(copy, "abc");
	free(copy);
	ck_assert_ptr_null(memory_copy_text(NULL));
}
END_TEST

START_TEST(copied_bytes_end_with_a_nul)
{
	char *copy = memory_copy_bytes("a\0b", 3);

	ck_assert_mem_eq(copy, "a\0b", 4);
	free(copy);
	copy = memory_copy_bytes(NULL, 0);
	ck_assert_str_eq(copy, "");
	free(copy);
}
END_TEST

START_TEST(wiped_memory_holds_nothing)
{
	char secret[] = "secret";

	memory_wipe(secret, sizeof(secret));
	for (size_t i = 0; i < sizeof(secret); i++)
		ck_assert_int_eq(secret[i], 0);
	memory_wipe(NULL, 10);
}
END_TEST

static void ask_for_too_many(void *context)
{
	const size_t *item_size = context;

	free(memory_allocate_array(SIZE_MAX / 2, *item_size));
}

static void grow_to_too_many(void *context)
{
	const size_t *item_size = context;

	free(memory_resize_array(NULL, SIZE_MAX / 2, *item_size));
}

START_TEST(used_up_memory_ends_the_process)
{
	size_t item_size = 8;
	struct child_end end;

	child_run(ask_for_too_many, &item_size, &end);
	ck_assert_int_eq(end.status, EXIT_STATUS_TRY_AGAIN);
	ck_assert(strstr(end.output, "out of memory") != NULL);
	child_run(grow_to_too_many, &item_size, &end);
	ck_assert_int_eq(end.status, EXIT_STATUS_TRY_AGAIN);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		memory_comes_zeroed,
		no_bytes_are_memory_too,
		a_grown_array_keeps_what_was_in_it,
		a_copied_text_is_another_one,
		copied_bytes_end_with_a_nul,
		wiped_memory_holds_nothing,
		used_up_memory_ends_the_process,
	};

	return runner_run("memory", tests, ARRAY_LENGTH(tests));
}
