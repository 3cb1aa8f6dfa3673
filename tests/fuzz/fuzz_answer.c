/* answer: whatever a product service says is a verdict; the first byte chooses the status. */
#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "retry/answer.h"
#include "tests/fuzz/fuzz.h"

static void judge(const struct http_answer *answer, enum answer_success success)
{
	struct answer_judgement judgement = { .error = "" };
	struct answer_batch *batch = NULL;

	answer_judge(answer, success, &judgement);
	REQUIRE(judgement.verdict == COMPENSATION_VERDICT_DONE || judgement.error[0] != '\0');
	REQUIRE(strlen(judgement.error) < COMPENSATION_ERROR_SIZE);
	answer_judge_batch(answer, success, 2, &batch, &judgement);
	REQUIRE(judgement.verdict != COMPENSATION_VERDICT_DEAD);
	answer_judge_task(batch, "restore:A1:17", &judgement);
	REQUIRE(judgement.verdict == COMPENSATION_VERDICT_DONE ||
		judgement.verdict == COMPENSATION_VERDICT_RETRY);
	answer_batch_destroy(&batch);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	static const long statuses[] = { 200, 201, 204, 302, 400, 409, 429, 500 };
	size_t skipped = size == 0 ? 0 : 1;
	char *body = memory_copy_bytes(bytes + skipped, size - skipped);
	struct http_answer answer = { .body = body,
		.body_size = size - skipped,
		.status = statuses[size == 0 ? 0 : bytes[0] % ARRAY_LENGTH(statuses)] };

	judge(&answer, ANSWER_SUCCESS_CODE);
	judge(&answer, ANSWER_SUCCESS_STATUS);
	free(body);
	return 0;
}
