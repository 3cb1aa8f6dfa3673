#include "common/report/alert_answer.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "common/base/text.h"
#include "common/io/http.h"
#include "common/io/json.h"

const char *const alert_result_names[] = { "ok", "http_error", "body_error", "timeout",
	"rate_limited", NULL };

static_assert(ARRAY_LENGTH(alert_result_names) == ALERT_RESULT_RATE_LIMITED + 2, "result names");

/* Refusals that are documented; what to do about each is in docs/alerts.md. */
static const struct refusal {
	enum alert_type type;
	enum alert_result result;
	int64_t code;
	const char *words;
} refusals[] = {
	{ ALERT_TYPE_DINGTALK, ALERT_RESULT_RATE_LIMITED, 130101, "too many messages" },
	{ ALERT_TYPE_DINGTALK, ALERT_RESULT_RATE_LIMITED, 410100, "too many messages" },
	{ ALERT_TYPE_DINGTALK, ALERT_RESULT_BODY_ERROR, 460101, "the message is too long" },
	{ ALERT_TYPE_DINGTALK, ALERT_RESULT_BODY_ERROR, 310000,
		"signature, keyword or address is not what the robot wants" },
	{ ALERT_TYPE_DINGTALK, ALERT_RESULT_BODY_ERROR, 300001, "the token does not exist" },
	{ ALERT_TYPE_FEISHU, ALERT_RESULT_RATE_LIMITED, 9499, "too many messages" },
	{ ALERT_TYPE_FEISHU, ALERT_RESULT_RATE_LIMITED, 11232, "too many messages" },
	{ ALERT_TYPE_FEISHU, ALERT_RESULT_BODY_ERROR, 19021,
		"the signature is wrong or the clock is off" },
	{ ALERT_TYPE_FEISHU, ALERT_RESULT_BODY_ERROR, 19022, "our address is not allowed" },
	{ ALERT_TYPE_FEISHU, ALERT_RESULT_BODY_ERROR, 19024, "the keyword is missing" },
	{ ALERT_TYPE_FEISHU, ALERT_RESULT_BODY_ERROR, 19001, "the address does not exist" },
	{ ALERT_TYPE_WECOM, ALERT_RESULT_RATE_LIMITED, 45009, "too many messages" },
	{ ALERT_TYPE_WECOM, ALERT_RESULT_BODY_ERROR, 93000, "the key does not exist" },
	{ ALERT_TYPE_WECOM, ALERT_RESULT_BODY_ERROR, 40058, "the message is too long" },
};

/* Where the body says how it went; NULL: the status says it all. */
static const char *const code_keys[] = {
	[ALERT_TYPE_GENERIC] = NULL,
	[ALERT_TYPE_ALERTMANAGER] = NULL,
	[ALERT_TYPE_DINGTALK] = "errcode",
	[ALERT_TYPE_FEISHU] = "code",
	[ALERT_TYPE_WECOM] = "errcode",
	[ALERT_TYPE_SLACK] = NULL,
};

static void set(
	struct alert_verdict *verdict, enum alert_result result, int64_t code, const char *words)
{
	verdict->result = result;
	verdict->code = code;
	(void)text_copy(verdict->reason, sizeof(verdict->reason), words);
}

/* Where the status says it all, nobody has to read what stands behind it to the end. */
static void judge_failure(const struct alert_target *target, const struct http_answer *answer,
	struct alert_verdict *verdict)
{
	if (answer->failure == HTTP_FAILURE_BROKEN && code_keys[target->type] == NULL &&
		target->type != ALERT_TYPE_SLACK && answer->head_status >= 200 &&
		answer->head_status <= 299) {
		set(verdict, ALERT_RESULT_OK, answer->head_status, "");
		return;
	}
	set(verdict,
		answer->failure == HTTP_FAILURE_TIME ? ALERT_RESULT_TIMEOUT
						     : ALERT_RESULT_HTTP_ERROR,
		0, answer->error);
}

static void judge_status(const struct http_answer *answer, struct alert_verdict *verdict)
{
	char words[ALERT_REASON_SIZE];

	(void)text_format(words, sizeof(words), "HTTP %ld", answer->status);
	set(verdict, answer->status == 429 ? ALERT_RESULT_RATE_LIMITED : ALERT_RESULT_HTTP_ERROR,
		answer->status, words);
}

static const struct refusal *find_refusal(enum alert_type type, int64_t code)
{
	for (size_t i = 0; i < ARRAY_LENGTH(refusals); i++)
		if (refusals[i].type == type && refusals[i].code == code)
			return &refusals[i];
	return NULL;
}

static void judge_code(enum alert_type type, int64_t code, struct alert_verdict *verdict)
{
	const struct refusal *refusal = find_refusal(type, code);
	char words[ALERT_REASON_SIZE];

	(void)text_format(words, sizeof(words), "%s %" PRId64 "%s%s", code_keys[type], code,
		refusal == NULL ? "" : ": ", refusal == NULL ? "" : refusal->words);
	set(verdict, refusal == NULL ? ALERT_RESULT_BODY_ERROR : refusal->result, code, words);
}

/* false: the body has no code. */
static bool read_code(
	const struct alert_target *target, const struct http_answer *answer, int64_t *code_out)
{
	struct json *root = NULL;
	bool has_code = json_parse(answer->body, answer->body_size, HTTP_ANSWER_MAX, &root, NULL) ==
				RESULT_OK &&
			json_get_int(root, code_keys[target->type], code_out);

	json_destroy(&root);
	return has_code;
}

/* 200 and code 0 is all that counts.  A code we know says more than another status beside it. */
static void judge_body(const struct alert_target *target, const struct http_answer *answer,
	struct alert_verdict *verdict)
{
	int64_t code = 0;
	bool has_code = read_code(target, answer, &code);

	if (has_code && code != 0 &&
		(answer->status == 200 || find_refusal(target->type, code) != NULL))
		judge_code(target->type, code, verdict);
	else if (answer->status != 200)
		judge_status(answer, verdict);
	else if (!has_code)
		set(verdict, ALERT_RESULT_BODY_ERROR, 0, "HTTP 200 without a code in the body");
	else
		set(verdict, ALERT_RESULT_OK, 0, "");
}

static bool is_well(const struct alert_target *target, const struct http_answer *answer)
{
	if (target->type == ALERT_TYPE_SLACK)
		return answer->status == 200;
	return answer->status >= 200 && answer->status <= 299;
}

void alert_answer_judge(const struct alert_target *target, const struct http_answer *answer,
	struct alert_verdict *verdict)
{
	memset(verdict, 0, sizeof(*verdict));
	if (answer->failure != HTTP_FAILURE_NONE)
		judge_failure(target, answer, verdict);
	else if (code_keys[target->type] != NULL)
		judge_body(target, answer, verdict);
	else if (!is_well(target, answer))
		judge_status(answer, verdict);
	else if (target->type == ALERT_TYPE_SLACK && !text_equals(answer->body, "ok"))
		set(verdict, ALERT_RESULT_BODY_ERROR, answer->status,
			"HTTP 200, but the body is not ok");
	else
		set(verdict, ALERT_RESULT_OK, answer->status, "");
	verdict->retry_after_ms = answer->retry_after_ms;
	verdict->is_gone = target->type == ALERT_TYPE_GENERIC && answer->status == 410;
}
