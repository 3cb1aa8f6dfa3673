/* alert_answer: a message was delivered when status and body say so together. */
#include <string.h>

#include "common/base/text.h"
#include "common/io/http.h"
#include "common/report/alert_answer.h"
#include "tests/support/runner.h"

static const struct {
	enum alert_type type;
	enum alert_result result;
	long status;
	const char *body;
	const char *words; /* that the reason holds */
} cases[] = {
	{ ALERT_TYPE_GENERIC, ALERT_RESULT_OK, 200, "", "" },
	{ ALERT_TYPE_GENERIC, ALERT_RESULT_OK, 204, "no JSON", "" },
	{ ALERT_TYPE_GENERIC, ALERT_RESULT_HTTP_ERROR, 302, "", "HTTP 302" },
	{ ALERT_TYPE_GENERIC, ALERT_RESULT_RATE_LIMITED, 429, "", "HTTP 429" },
	{ ALERT_TYPE_GENERIC, ALERT_RESULT_HTTP_ERROR, 500, "", "HTTP 500" },
	{ ALERT_TYPE_ALERTMANAGER, ALERT_RESULT_OK, 200, "", "" },
	{ ALERT_TYPE_ALERTMANAGER, ALERT_RESULT_HTTP_ERROR, 400, "bad", "HTTP 400" },
	{ ALERT_TYPE_DINGTALK, ALERT_RESULT_OK, 200, "{\"errcode\":0,\"errmsg\":\"ok\"}", "" },
	{ ALERT_TYPE_DINGTALK, ALERT_RESULT_RATE_LIMITED, 200,
		"{\"errcode\":130101,\"errmsg\":\"t0ken\"}", "errcode 130101: too many messages" },
	{ ALERT_TYPE_DINGTALK, ALERT_RESULT_BODY_ERROR, 200, "{\"errcode\":460101}", "too long" },
	{ ALERT_TYPE_DINGTALK, ALERT_RESULT_BODY_ERROR, 200, "{\"errcode\":310000}", "signature" },
	{ ALERT_TYPE_DINGTALK, ALERT_RESULT_BODY_ERROR, 200, "{\"errcode\":7}", "errcode 7" },
	{ ALERT_TYPE_DINGTALK, ALERT_RESULT_BODY_ERROR, 200, "{\"errcode\":\"0\"}", "without" },
	{ ALERT_TYPE_DINGTALK, ALERT_RESULT_BODY_ERROR, 200, "<html>", "without a code" },
	{ ALERT_TYPE_DINGTALK, ALERT_RESULT_HTTP_ERROR, 201, "{\"errcode\":0}", "HTTP 201" },
	{ ALERT_TYPE_DINGTALK, ALERT_RESULT_HTTP_ERROR, 502, "{\"errcode\":0}", "HTTP 502" },
	{ ALERT_TYPE_FEISHU, ALERT_RESULT_OK, 200, "{\"code\":0}", "" },
	{ ALERT_TYPE_FEISHU, ALERT_RESULT_RATE_LIMITED, 200, "{\"code\":9499}", "code 9499" },
	{ ALERT_TYPE_FEISHU, ALERT_RESULT_RATE_LIMITED, 400, "{\"code\":9499}", "code 9499" },
	{ ALERT_TYPE_FEISHU, ALERT_RESULT_RATE_LIMITED, 200, "{\"code\":11232}", "code 11232" },
	{ ALERT_TYPE_FEISHU, ALERT_RESULT_BODY_ERROR, 200, "{\"code\":19021}", "signature" },
	{ ALERT_TYPE_FEISHU, ALERT_RESULT_BODY_ERROR, 200, "{\"code\":19022}", "address" },
	{ ALERT_TYPE_FEISHU, ALERT_RESULT_BODY_ERROR, 200, "{\"code\":19024}", "keyword" },
	{ ALERT_TYPE_FEISHU, ALERT_RESULT_RATE_LIMITED, 429, "{\"code\":1}", "HTTP 429" },
	{ ALERT_TYPE_WECOM, ALERT_RESULT_OK, 200, "{\"errcode\":0}", "" },
	{ ALERT_TYPE_WECOM, ALERT_RESULT_RATE_LIMITED, 200, "{\"errcode\":45009}", "45009" },
	{ ALERT_TYPE_WECOM, ALERT_RESULT_BODY_ERROR, 200, "{\"code\":0}", "without a code" },
	{ ALERT_TYPE_SLACK, ALERT_RESULT_OK, 200, "ok", "" },
	{ ALERT_TYPE_SLACK, ALERT_RESULT_BODY_ERROR, 200, "invalid_payload", "is not ok" },
	{ ALERT_TYPE_SLACK, ALERT_RESULT_HTTP_ERROR, 202, "ok", "HTTP 202" },
	{ ALERT_TYPE_SLACK, ALERT_RESULT_RATE_LIMITED, 429, "", "HTTP 429" },
};

START_TEST(status_and_body_are_judged_together)
{
	for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
		const struct alert_target target = { .type = cases[i].type };
		const struct http_answer answer = { .status = cases[i].status,
			.body = cases[i].body,
			.body_size = strlen(cases[i].body) };
		struct alert_verdict verdict;

		alert_answer_judge(&target, &answer, &verdict);
		ck_assert_msg(verdict.result == cases[i].result, "%zu: %s", i, verdict.reason);
		ck_assert_msg(strstr(verdict.reason, cases[i].words) != NULL, "%zu: %s", i,
			verdict.reason);
		/* Nothing of a body is repeated. */
		ck_assert_ptr_null(strstr(verdict.reason, "t0ken"));
		ck_assert(!verdict.is_gone);
	}
}
END_TEST

START_TEST(no_answer_is_a_time_out_or_an_error)
{
	const struct alert_target target = { .type = ALERT_TYPE_DINGTALK };
	struct http_answer answer = { .failure = HTTP_FAILURE_TIME, .body = "", .error = "slow" };
	struct alert_verdict verdict;

	alert_answer_judge(&target, &answer, &verdict);
	ck_assert_int_eq(verdict.result, ALERT_RESULT_TIMEOUT);
	answer.failure = HTTP_FAILURE_CONNECT;
	alert_answer_judge(&target, &answer, &verdict);
	ck_assert_int_eq(verdict.result, ALERT_RESULT_HTTP_ERROR);
	ck_assert_str_eq(verdict.reason, "slow");
	answer.failure = HTTP_FAILURE_BROKEN;
	alert_answer_judge(&target, &answer, &verdict);
	ck_assert_int_eq(verdict.result, ALERT_RESULT_HTTP_ERROR);
}
END_TEST

START_TEST(a_long_answer_is_read_as_far_as_it_is_needed)
{
	struct alert_target target = { .type = ALERT_TYPE_GENERIC };
	struct http_answer answer = {
		.failure = HTTP_FAILURE_BROKEN, .head_status = 200, .body = "", .error = "too long"
	};
	struct alert_verdict verdict;

	alert_answer_judge(&target, &answer, &verdict);
	ck_assert_int_eq(verdict.result, ALERT_RESULT_OK);
	target.type = ALERT_TYPE_SLACK;
	alert_answer_judge(&target, &answer, &verdict);
	ck_assert_int_eq(verdict.result, ALERT_RESULT_HTTP_ERROR);
	target.type = ALERT_TYPE_WECOM;
	alert_answer_judge(&target, &answer, &verdict);
	ck_assert_int_eq(verdict.result, ALERT_RESULT_HTTP_ERROR);
	target.type = ALERT_TYPE_ALERTMANAGER;
	answer.head_status = 500;
	alert_answer_judge(&target, &answer, &verdict);
	ck_assert_int_eq(verdict.result, ALERT_RESULT_HTTP_ERROR);
}
END_TEST

START_TEST(only_a_generic_target_can_be_gone)
{
	struct alert_target target = { .type = ALERT_TYPE_GENERIC };
	const struct http_answer answer = { .status = 410, .body = "", .retry_after_ms = 3000 };
	struct alert_verdict verdict;

	alert_answer_judge(&target, &answer, &verdict);
	ck_assert(verdict.is_gone);
	ck_assert_uint_eq(verdict.retry_after_ms, 3000);
	target.type = ALERT_TYPE_SLACK;
	alert_answer_judge(&target, &answer, &verdict);
	ck_assert(!verdict.is_gone);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		status_and_body_are_judged_together,
		no_answer_is_a_time_out_or_an_error,
		a_long_answer_is_read_as_far_as_it_is_needed,
		only_a_generic_target_can_be_gone,
	};

	return runner_run("alert_answer", tests, ARRAY_LENGTH(tests));
}
