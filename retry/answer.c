#include "retry/answer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/io/json.h"

enum {
	QUOTE_MAX = 200, /* bytes of an answer that go into last_error */
	RESULT_MAX = 5000,
};

const char *const answer_success_names[] = { "code", "status", NULL };

/* The first row whose bounds fit decides. */
static const struct status_rule {
	long first, last;
	enum compensation_verdict verdict;
	enum answer_health health;
	const char *words;
} status_rules[] = {
	{ 100, 199, COMPENSATION_VERDICT_RETRY, ANSWER_HEALTH_SUSPICIOUS, "is no final answer" },
	{ 200, 201, COMPENSATION_VERDICT_DONE, ANSWER_HEALTH_WELL, "" },
	{ 202, 299, COMPENSATION_VERDICT_RETRY, ANSWER_HEALTH_WELL, "is not 200 or 201" },
	{ 300, 399, COMPENSATION_VERDICT_RETRY, ANSWER_HEALTH_WELL, "redirects are not followed" },
	{ 408, 408, COMPENSATION_VERDICT_RETRY, ANSWER_HEALTH_WELL, "" },
	{ 409, 409, COMPENSATION_VERDICT_DEAD, ANSWER_HEALTH_WELL,
		"the key was used with other content" },
	{ 425, 425, COMPENSATION_VERDICT_RETRY, ANSWER_HEALTH_WELL, "" },
	{ 429, 429, COMPENSATION_VERDICT_RETRY, ANSWER_HEALTH_WELL, "" },
	{ 400, 499, COMPENSATION_VERDICT_DEAD, ANSWER_HEALTH_WELL, "refused" },
	/* What a gateway says when the service behind it is gone. */
	{ 502, 504, COMPENSATION_VERDICT_RETRY, ANSWER_HEALTH_SICK, "" },
	{ 500, 599, COMPENSATION_VERDICT_RETRY, ANSWER_HEALTH_SUSPICIOUS, "" },
};

static const struct status_rule no_such_status = { 0, 0, COMPENSATION_VERDICT_RETRY,
	ANSWER_HEALTH_SUSPICIOUS, "is no HTTP status" };

static const struct status_rule *find_status_rule(long status)
{
	for (size_t i = 0; i < ARRAY_LENGTH(status_rules); i++)
		if (status >= status_rules[i].first && status <= status_rules[i].last)
			return &status_rules[i];
	return &no_such_status;
}

static void judge_failure(const struct http_answer *answer, struct answer_judgement *judgement)
{
	static const char *const words[] = {
		[HTTP_FAILURE_NONE] = "",
		[HTTP_FAILURE_CONNECT] = "no connection",
		[HTTP_FAILURE_TIME] = "no answer in time",
		[HTTP_FAILURE_BROKEN] = "broken answer",
	};

	judgement->verdict = COMPENSATION_VERDICT_RETRY;
	judgement->health = answer->failure == HTTP_FAILURE_BROKEN ? ANSWER_HEALTH_SUSPICIOUS
								   : ANSWER_HEALTH_SICK;
	(void)text_format(judgement->error, sizeof(judgement->error), "%s: %s",
		words[answer->failure], answer->error);
}

/* "HTTP 503: <the beginning of the answer>". */
static void describe_status(
	const struct http_answer *answer, const char *words, struct answer_judgement *judgement)
{
	char quote[QUOTE_MAX + 1];

	(void)text_clip(quote, sizeof(quote), answer->body, answer->body_size);
	(void)text_format(judgement->error, sizeof(judgement->error), "HTTP %ld%s%s%s%s",
		answer->status, words[0] == '\0' ? "" : ", ", words, quote[0] == '\0' ? "" : ": ",
		quote);
}

/* false when something before the body has decided. */
static bool judge_status(const struct http_answer *answer, enum answer_success success,
	struct answer_judgement *judgement)
{
	memset(judgement, 0, sizeof(*judgement));
	if (answer->failure != HTTP_FAILURE_NONE) {
		judge_failure(answer, judgement);
		return false;
	}
	const struct status_rule *rule = find_status_rule(answer->status);
	judgement->verdict = rule->verdict;
	judgement->health = rule->health;
	if (success == ANSWER_SUCCESS_STATUS && answer->status >= 200 && answer->status <= 299)
		judgement->verdict = COMPENSATION_VERDICT_DONE;
	if (judgement->verdict == COMPENSATION_VERDICT_DONE)
		return true;
	describe_status(answer, rule->words, judgement);
	return false;
}

static void fail(
	struct answer_judgement *judgement, const struct http_answer *answer, const char *words)
{
	judgement->verdict = COMPENSATION_VERDICT_RETRY;
	describe_status(answer, words, judgement);
}

/* The object of a good status; NULL, and the judgement says why, when there is none with code 0. */
static struct json *read_success(
	const struct http_answer *answer, struct answer_judgement *judgement)
{
	struct json *root = NULL;
	struct error error = { 0 };
	int64_t code = 0;

	if (json_parse(answer->body, answer->body_size, SIZE_MAX, &root, &error) != RESULT_OK)
		fail(judgement, answer, error.text);
	else if (!json_is_object(root) || !json_get_int(root, "code", &code))
		fail(judgement, answer, "no JSON object with a number as code");
	else if (code != 0)
		fail(judgement, answer, "the code is not 0");
	else
		return root;
	json_destroy(&root);
	return NULL;
}

void answer_judge(const struct http_answer *answer, enum answer_success success,
	struct answer_judgement *judgement_out)
{
	if (!judge_status(answer, success, judgement_out) || success == ANSWER_SUCCESS_STATUS)
		return;
	struct json *root = read_success(answer, judgement_out);
	json_destroy(&root);
}

struct batch_result {
	const char *idempotency_key; /* borrowed from root */
	bool has_code;
	int64_t code;
};

struct answer_batch {
	struct json *root;
	struct batch_result *results; /* by key */
	size_t count;
};

static int compare_results(const void *left, const void *right)
{
	const struct batch_result *one = left;
	const struct batch_result *other = right;

	return strcmp(one->idempotency_key, other->idempotency_key);
}

static void read_results(struct answer_batch *batch, const struct json *list)
{
	size_t count = json_count(list) < RESULT_MAX ? json_count(list) : RESULT_MAX;

	batch->results = memory_allocate_array(count, sizeof(*batch->results));
	for (size_t i = 0; i < count; i++) {
		const struct json *item = json_at(list, i);
		struct batch_result *result = &batch->results[batch->count];

		result->idempotency_key = json_get_text(item, "idempotency_key");
		result->has_code = json_get_int(item, "code", &result->code);
		if (result->idempotency_key != NULL)
			batch->count++;
	}
	qsort(batch->results, batch->count, sizeof(*batch->results), compare_results);
}

void answer_judge_batch(const struct http_answer *answer, enum answer_success success,
	size_t task_count, struct answer_batch **batch_out, struct answer_judgement *judgement_out)
{
	struct json *root = NULL;

	*batch_out = NULL;
	if (!judge_status(answer, success, judgement_out)) {
		if (judgement_out->verdict == COMPENSATION_VERDICT_DEAD && task_count > 1)
			judgement_out->verdict = COMPENSATION_VERDICT_RETRY;
		return;
	}
	if (success == ANSWER_SUCCESS_CODE)
		root = read_success(answer, judgement_out);
	else if (json_parse(answer->body, answer->body_size, SIZE_MAX, &root, NULL) != RESULT_OK)
		root = NULL; /* the status alone decides for all */
	const struct json *list = json_get(root, "results");
	if (root != NULL && (list != NULL || success == ANSWER_SUCCESS_CODE)) {
		*batch_out = memory_allocate(sizeof(**batch_out));
		(*batch_out)->root = root;
		read_results(*batch_out, list);
		root = NULL;
	}
	json_destroy(&root);
}

static void judge_result(const struct batch_result *result, struct answer_judgement *judgement)
{
	if (result->has_code && result->code == 0)
		return;
	judgement->verdict = COMPENSATION_VERDICT_RETRY;
	if (result->has_code)
		(void)text_format(judgement->error, sizeof(judgement->error),
			"its code in the batch is %" PRId64, result->code);
	else
		(void)text_format(
			judgement->error, sizeof(judgement->error), "it has no code in the batch");
}

/* A key that comes twice succeeded only where both say so. */
void answer_judge_task(const struct answer_batch *batch, const char *idempotency_key,
	struct answer_judgement *judgement_out)
{
	const struct batch_result wanted = { .idempotency_key = idempotency_key };
	const struct batch_result *found = NULL;

	if (batch == NULL)
		return; /* the answer as a whole has decided */
	found = bsearch(&wanted, batch->results, batch->count, sizeof(wanted), compare_results);
	if (found == NULL) {
		judgement_out->verdict = COMPENSATION_VERDICT_RETRY;
		(void)text_format(judgement_out->error, sizeof(judgement_out->error),
			"no result for it in the batch");
		return;
	}
	while (found > batch->results && compare_results(found - 1, &wanted) == 0)
		found--;
	const struct batch_result *end = batch->results + batch->count;
	for (; found < end && compare_results(found, &wanted) == 0; found++)
		judge_result(found, judgement_out);
}

void answer_batch_destroy(struct answer_batch **batch)
{
	if (*batch == NULL)
		return;
	json_destroy(&(*batch)->root);
	free((*batch)->results);
	free(*batch);
	*batch = NULL;
}
