/* answer: only a documented success is success, and whatever else comes has words. */
#include <string.h>

#include "common/base/text.h"
#include "retry/answer.h"
#include "tests/support/runner.h"

static struct http_answer give(long status, const char *body)
{
	return (struct http_answer){ .status = status, .body = body, .body_size = strlen(body) };
}

static enum compensation_verdict judge(
	long status, const char *body, enum answer_success success, enum answer_health *health_out)
{
	const struct http_answer answer = give(status, body);
	struct answer_judgement judgement;

	answer_judge(&answer, success, &judgement);
	ck_assert_int_eq(
		judgement.error[0] == '\0', judgement.verdict == COMPENSATION_VERDICT_DONE);
	if (health_out != NULL)
		*health_out = judgement.health;
	return judgement.verdict;
}

static const struct status_case {
	long status;
	enum compensation_verdict verdict;
	enum answer_health health;
} status_cases[] = {
	{ 200, COMPENSATION_VERDICT_DONE, ANSWER_HEALTH_WELL },
	{ 201, COMPENSATION_VERDICT_DONE, ANSWER_HEALTH_WELL },
	{ 202, COMPENSATION_VERDICT_RETRY, ANSWER_HEALTH_WELL },
	{ 204, COMPENSATION_VERDICT_RETRY, ANSWER_HEALTH_WELL },
	{ 299, COMPENSATION_VERDICT_RETRY, ANSWER_HEALTH_WELL },
	{ 301, COMPENSATION_VERDICT_RETRY, ANSWER_HEALTH_WELL },
	{ 302, COMPENSATION_VERDICT_RETRY, ANSWER_HEALTH_WELL },
	{ 308, COMPENSATION_VERDICT_RETRY, ANSWER_HEALTH_WELL },
	{ 400, COMPENSATION_VERDICT_DEAD, ANSWER_HEALTH_WELL },
	{ 401, COMPENSATION_VERDICT_DEAD, ANSWER_HEALTH_WELL },
	{ 404, COMPENSATION_VERDICT_DEAD, ANSWER_HEALTH_WELL },
	{ 407, COMPENSATION_VERDICT_DEAD, ANSWER_HEALTH_WELL },
	{ 408, COMPENSATION_VERDICT_RETRY, ANSWER_HEALTH_WELL },
	{ 409, COMPENSATION_VERDICT_DEAD, ANSWER_HEALTH_WELL },
	{ 410, COMPENSATION_VERDICT_DEAD, ANSWER_HEALTH_WELL },
	{ 422, COMPENSATION_VERDICT_DEAD, ANSWER_HEALTH_WELL },
	{ 425, COMPENSATION_VERDICT_RETRY, ANSWER_HEALTH_WELL },
	{ 429, COMPENSATION_VERDICT_RETRY, ANSWER_HEALTH_WELL },
	{ 499, COMPENSATION_VERDICT_DEAD, ANSWER_HEALTH_WELL },
	{ 500, COMPENSATION_VERDICT_RETRY, ANSWER_HEALTH_SUSPICIOUS },
	{ 501, COMPENSATION_VERDICT_RETRY, ANSWER_HEALTH_SUSPICIOUS },
	{ 502, COMPENSATION_VERDICT_RETRY, ANSWER_HEALTH_SICK },
	{ 503, COMPENSATION_VERDICT_RETRY, ANSWER_HEALTH_SICK },
	{ 504, COMPENSATION_VERDICT_RETRY, ANSWER_HEALTH_SICK },
	{ 505, COMPENSATION_VERDICT_RETRY, ANSWER_HEALTH_SUSPICIOUS },
	{ 599, COMPENSATION_VERDICT_RETRY, ANSWER_HEALTH_SUSPICIOUS },
	{ 100, COMPENSATION_VERDICT_RETRY, ANSWER_HEALTH_SUSPICIOUS },
	{ 600, COMPENSATION_VERDICT_RETRY, ANSWER_HEALTH_SUSPICIOUS },
	{ 999, COMPENSATION_VERDICT_RETRY, ANSWER_HEALTH_SUSPICIOUS },
	{ 0, COMPENSATION_VERDICT_RETRY, ANSWER_HEALTH_SUSPICIOUS },
};

START_TEST(each_status_has_its_verdict)
{
	for (size_t i = 0; i < ARRAY_LENGTH(status_cases); i++) {
		const struct status_case *row = &status_cases[i];
		enum answer_health health = ANSWER_HEALTH_WELL;

		ck_assert_msg(judge(row->status, "{\"code\":0}", ANSWER_SUCCESS_CODE, &health) ==
				      row->verdict,
			"status %ld", row->status);
		ck_assert_msg(health == row->health, "health of status %ld", row->status);
	}
}
END_TEST

START_TEST(any_2xx_is_success_where_the_status_decides)
{
	ck_assert_int_eq(judge(204, "", ANSWER_SUCCESS_STATUS, NULL), COMPENSATION_VERDICT_DONE);
	ck_assert_int_eq(
		judge(200, "<html>", ANSWER_SUCCESS_STATUS, NULL), COMPENSATION_VERDICT_DONE);
	ck_assert_int_eq(
		judge(200, "{\"code\":7}", ANSWER_SUCCESS_STATUS, NULL), COMPENSATION_VERDICT_DONE);
	ck_assert_int_eq(judge(302, "{\"code\":0}", ANSWER_SUCCESS_STATUS, NULL),
		COMPENSATION_VERDICT_RETRY);
	ck_assert_int_eq(
		judge(410, "{\"code\":0}", ANSWER_SUCCESS_STATUS, NULL), COMPENSATION_VERDICT_DEAD);
}
END_TEST

static const char *const bodies_that_are_no_success[] = {
	"",
	" ",
	"ok",
	"0",
	"null",
	"[]",
	"[{\"code\":0}]",
	"{}",
	"{\"code\":1}",
	"{\"code\":-1}",
	"{\"code\":\"0\"}",
	"{\"code\":0.0}",
	"{\"code\":false}",
	"{\"code\":null}",
	"{\"code\":0,\"code\":1}",
	"{\"code\":0",
	"{\"code\":0}x",
	"{\"data\":{\"code\":0}}",
	"<html>{\"code\":0}</html>",
	"\xff\xfe",
};

START_TEST(a_good_status_needs_an_object_with_code_0)
{
	for (size_t i = 0; i < ARRAY_LENGTH(bodies_that_are_no_success); i++) {
		enum answer_health health = ANSWER_HEALTH_SICK;

		ck_assert_msg(judge(200, bodies_that_are_no_success[i], ANSWER_SUCCESS_CODE,
				      &health) == COMPENSATION_VERDICT_RETRY,
			"%s", bodies_that_are_no_success[i]);
		/* The breaker does not count business codes. */
		ck_assert_int_eq(health, ANSWER_HEALTH_WELL);
	}
	ck_assert_int_eq(judge(201, " {\"other\":[1], \"code\" : 0 } ", ANSWER_SUCCESS_CODE, NULL),
		COMPENSATION_VERDICT_DONE);
}
END_TEST

START_TEST(calls_without_an_answer_are_made_again)
{
	static const struct {
		enum http_failure failure;
		enum answer_health health;
		const char *words;
	} cases[] = {
		{ HTTP_FAILURE_CONNECT, ANSWER_HEALTH_SICK, "no connection: why" },
		{ HTTP_FAILURE_TIME, ANSWER_HEALTH_SICK, "no answer in time: why" },
		{ HTTP_FAILURE_BROKEN, ANSWER_HEALTH_SUSPICIOUS, "broken answer: why" },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
		struct http_answer answer = give(0, "");
		struct answer_judgement judgement;

		answer.failure = cases[i].failure;
		(void)text_copy(answer.error, sizeof(answer.error), "why");
		answer_judge(&answer, ANSWER_SUCCESS_STATUS, &judgement);
		ck_assert_int_eq(judgement.verdict, COMPENSATION_VERDICT_RETRY);
		ck_assert_int_eq(judgement.health, cases[i].health);
		ck_assert_str_eq(judgement.error, cases[i].words);
	}
}
END_TEST

START_TEST(the_error_quotes_the_beginning_of_the_answer)
{
	char body[5000];
	struct answer_judgement judgement;

	memset(body, 'x', sizeof(body));
	struct http_answer answer = { .status = 503, .body = body, .body_size = sizeof(body) };
	answer_judge(&answer, ANSWER_SUCCESS_CODE, &judgement);
	ck_assert(text_starts_with(judgement.error, "HTTP 503: xxxx"));
	ck_assert_uint_lt(strlen(judgement.error), 300);
	answer = give(409, "{\"message\":\"no\"}");
	answer_judge(&answer, ANSWER_SUCCESS_CODE, &judgement);
	ck_assert_str_eq(judgement.error,
		"HTTP 409, the key was used with other content: {\"message\":\"no\"}");
}
END_TEST

static struct answer_judgement judge_batch(long status, const char *body,
	enum answer_success success, size_t task_count, struct answer_batch **batch_out)
{
	const struct http_answer answer = give(status, body);
	struct answer_judgement judgement;

	answer_judge_batch(&answer, success, task_count, batch_out, &judgement);
	return judgement;
}

static enum compensation_verdict judge_task(
	const struct answer_batch *batch, const struct answer_judgement *whole, const char *key)
{
	struct answer_judgement judgement = *whole;

	answer_judge_task(batch, key, &judgement);
	ck_assert_int_eq(
		judgement.error[0] == '\0', judgement.verdict == COMPENSATION_VERDICT_DONE);
	return judgement.verdict;
}

START_TEST(each_task_of_a_batch_has_its_own_result)
{
	static const char body[] = "{\"code\":0,\"results\":["
				   "{\"idempotency_key\":\"a\",\"code\":0},"
				   "{\"idempotency_key\":\"b\",\"code\":9},"
				   "{\"idempotency_key\":\"unknown\",\"code\":0},"
				   "{\"idempotency_key\":\"d\"},"
				   "{\"idempotency_key\":\"e\",\"code\":\"0\"},"
				   "{\"idempotency_key\":7,\"code\":0},\"nonsense\",null,"
				   "{\"idempotency_key\":\"twice\",\"code\":0},"
				   "{\"idempotency_key\":\"twice\",\"code\":3},"
				   "{\"idempotency_key\":\"again\",\"code\":0},"
				   "{\"idempotency_key\":\"again\",\"code\":0}]}";
	struct answer_batch *batch = NULL;
	struct answer_judgement whole = judge_batch(200, body, ANSWER_SUCCESS_CODE, 8, &batch);

	ck_assert_int_eq(whole.verdict, COMPENSATION_VERDICT_DONE);
	ck_assert_int_eq(judge_task(batch, &whole, "a"), COMPENSATION_VERDICT_DONE);
	ck_assert_int_eq(judge_task(batch, &whole, "again"), COMPENSATION_VERDICT_DONE);
	ck_assert_int_eq(judge_task(batch, &whole, "b"), COMPENSATION_VERDICT_RETRY);
	ck_assert_int_eq(judge_task(batch, &whole, "missing"), COMPENSATION_VERDICT_RETRY);
	ck_assert_int_eq(judge_task(batch, &whole, "d"), COMPENSATION_VERDICT_RETRY);
	ck_assert_int_eq(judge_task(batch, &whole, "e"), COMPENSATION_VERDICT_RETRY);
	ck_assert_int_eq(judge_task(batch, &whole, "twice"), COMPENSATION_VERDICT_RETRY);
	answer_batch_destroy(&batch);
	answer_batch_destroy(&batch);
}
END_TEST

START_TEST(a_batch_without_a_list_of_results_succeeded_for_nobody)
{
	static const char *const bodies[] = { "{\"code\":0}", "{\"code\":0,\"results\":{}}",
		"{\"code\":0,\"results\":[]}", "{\"code\":0,\"results\":null}",
		"{\"code\":1,\"results\":[{\"idempotency_key\":\"a\",\"code\":0}]}", "nonsense" };

	for (size_t i = 0; i < ARRAY_LENGTH(bodies); i++) {
		struct answer_batch *batch = NULL;
		struct answer_judgement whole =
			judge_batch(200, bodies[i], ANSWER_SUCCESS_CODE, 2, &batch);

		ck_assert_int_eq(judge_task(batch, &whole, "a"), COMPENSATION_VERDICT_RETRY);
		answer_batch_destroy(&batch);
	}
}
END_TEST

START_TEST(a_refusal_of_many_refuses_none_of_them)
{
	struct answer_batch *batch = NULL;
	struct answer_judgement whole = judge_batch(400, "", ANSWER_SUCCESS_CODE, 2, &batch);

	ck_assert_ptr_null(batch);
	ck_assert_int_eq(judge_task(batch, &whole, "a"), COMPENSATION_VERDICT_RETRY);
	whole = judge_batch(400, "", ANSWER_SUCCESS_CODE, 1, &batch);
	ck_assert_int_eq(judge_task(batch, &whole, "a"), COMPENSATION_VERDICT_DEAD);
	whole = judge_batch(503, "", ANSWER_SUCCESS_CODE, 1, &batch);
	ck_assert_int_eq(judge_task(batch, &whole, "a"), COMPENSATION_VERDICT_RETRY);
}
END_TEST

START_TEST(where_the_status_decides_a_list_of_results_still_counts)
{
	struct answer_batch *batch = NULL;
	struct answer_judgement whole = judge_batch(204, "", ANSWER_SUCCESS_STATUS, 2, &batch);

	ck_assert_ptr_null(batch);
	ck_assert_int_eq(judge_task(batch, &whole, "a"), COMPENSATION_VERDICT_DONE);
	whole = judge_batch(200, "{\"results\":[{\"idempotency_key\":\"a\",\"code\":0}]}",
		ANSWER_SUCCESS_STATUS, 2, &batch);
	ck_assert_int_eq(judge_task(batch, &whole, "a"), COMPENSATION_VERDICT_DONE);
	ck_assert_int_eq(judge_task(batch, &whole, "b"), COMPENSATION_VERDICT_RETRY);
	answer_batch_destroy(&batch);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		each_status_has_its_verdict,
		any_2xx_is_success_where_the_status_decides,
		a_good_status_needs_an_object_with_code_0,
		calls_without_an_answer_are_made_again,
		the_error_quotes_the_beginning_of_the_answer,
		each_task_of_a_batch_has_its_own_result,
		a_batch_without_a_list_of_results_succeeded_for_nobody,
		a_refusal_of_many_refuses_none_of_them,
		where_the_status_decides_a_list_of_results_still_counts,
	};

	return runner_run("answer", tests, ARRAY_LENGTH(tests));
}
