/* job: queues keep their order and lose nothing. */
#include <string.h>

#include "common/base/memory.h"
#include "retry/job.h"
#include "tests/support/runner.h"

static struct job *make(uint64_t id, uint64_t subject)
{
	struct compensation_task task = { .id = id, .payload = memory_copy_text("{}") };
	struct job *job = job_create(&task, 5);

	ck_assert_ptr_null(task.payload);
	compensation_set_error(&job->task, "words");
	job->subject = subject;
	return job;
}

static void expect(struct job *job, uint64_t id)
{
	ck_assert_ptr_nonnull(job);
	ck_assert_uint_eq(job->task.id, id);
	job_destroy(&job);
	ck_assert_ptr_null(job);
	job_destroy(&job);
}

START_TEST(the_first_in_is_the_first_out)
{
	struct job_queue queue = { 0 };

	ck_assert_ptr_null(job_queue_pop(&queue));
	for (uint64_t id = 1; id <= 3; id++)
		job_queue_push(&queue, make(id, 0));
	ck_assert_uint_eq(queue.count, 3);
	for (uint64_t id = 1; id <= 3; id++)
		expect(job_queue_pop(&queue), id);
	ck_assert_ptr_null(queue.first);
	ck_assert_ptr_null(queue.last);
	job_queue_push(&queue, make(4, 0));
	expect(job_queue_pop(&queue), 4);
}
END_TEST

START_TEST(a_stranger_is_taken_from_any_place)
{
	struct job_queue queue = { 0 };

	job_queue_push(&queue, make(1, 7));
	job_queue_push(&queue, make(2, 7));
	job_queue_push(&queue, make(3, 8));
	expect(job_queue_pop_stranger(&queue, 7), 3);
	ck_assert_uint_eq(queue.count, 2);
	ck_assert_uint_eq(queue.last->task.id, 2);
	/* No stranger is left. */
	expect(job_queue_pop_stranger(&queue, 7), 1);
	expect(job_queue_pop_stranger(&queue, 99), 2);
	ck_assert_ptr_null(job_queue_pop_stranger(&queue, 7));
	ck_assert_ptr_null(queue.last);
}
END_TEST

START_TEST(a_queue_can_be_cleared)
{
	struct job_queue queue = { 0 };

	for (uint64_t id = 1; id <= 3; id++)
		job_queue_push(&queue, make(id, id));
	job_queue_clear(&queue);
	job_queue_clear(&queue);
	ck_assert_uint_eq(queue.count, 0);
}
END_TEST

START_TEST(an_error_is_kept_clean_and_short)
{
	struct compensation_task task = { 0 };
	char text[2000];

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	memcpy(text + 509, "\xe4\xb8\xad", 3);
	memcpy(text, "\xff\n", 2);
	compensation_set_error(&task, text);
	/* 512 bytes at most, and the character that would not fit whole is left out. */
	ck_assert_uint_eq(strlen(task.error), 512);
	ck_assert(memcmp(task.error, "??x", 3) == 0);
	compensation_set_error(&task, "again");
	ck_assert_str_eq(task.error, "again");
	compensation_clear_task(&task);
	ck_assert_ptr_null(task.error);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		the_first_in_is_the_first_out,
		a_stranger_is_taken_from_any_place,
		a_queue_can_be_cleared,
		an_error_is_kept_clean_and_short,
	};

	return runner_run("job", tests, ARRAY_LENGTH(tests));
}
