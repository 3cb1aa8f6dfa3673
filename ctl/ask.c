#include "ctl/ask.h"

#include <stdlib.h>

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/io/http.h"

enum {
	TURN_MS = 100
};

void ask(const char *url, size_t answer_max, struct ask_answer *answer_out)
{
	const struct http_request request = {
		.url = url, .answer_max = answer_max, .time_limit_ms = ASK_LIMIT_MS
	};
	struct http_answer answer = { .failure = HTTP_FAILURE_TIME, .body = "" };
	struct http *http = NULL;
	bool is_answered = false;

	*answer_out = (struct ask_answer){ .status = 0 };
	http_create(1, ASK_LIMIT_MS, &http);
	http_start(http, &request);
	for (int turn = 0; !is_answered && turn < 2 * ASK_LIMIT_MS / TURN_MS; turn++) {
		http_work(http, TURN_MS);
		is_answered = http_take_answer(http, &answer);
	}
	if (is_answered && answer.failure == HTTP_FAILURE_NONE) {
		answer_out->status = answer.status;
		(void)text_format(
			answer_out->words, sizeof(answer_out->words), "HTTP %ld", answer.status);
	} else {
		(void)text_copy(answer_out->words, sizeof(answer_out->words),
			is_answered ? answer.error : "time is up");
	}
	answer_out->body = memory_copy_text(answer.body);
	http_destroy(&http);
}

void ask_clear(struct ask_answer *answer)
{
	free(answer->body);
	*answer = (struct ask_answer){ .status = 0 };
}
