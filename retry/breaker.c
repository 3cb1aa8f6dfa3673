#include "retry/breaker.h"

#include <string.h>

#include "common/base/backoff.h"
#include "common/base/random.h"

enum {
	CALL_LIMIT_MAX = 100000
};

static size_t find_limit(const struct breaker *breaker)
{
	if (breaker->state == BREAKER_STATE_PROBING)
		return 1;
	return breaker->call_limit == 0 ? BREAKER_FIRST_CALLS : breaker->call_limit;
}

size_t breaker_count_allowed(struct breaker *breaker, size_t running, uint64_t now_ms)
{
	/* The answers of calls begun before are no answers of a probe. */
	if (breaker->state == BREAKER_STATE_OPEN && now_ms >= breaker->open_until_ms &&
		running == 0)
		breaker->state = BREAKER_STATE_PROBING;
	if (breaker->state == BREAKER_STATE_OPEN)
		return 0;
	size_t limit = find_limit(breaker);
	return limit > running ? limit - running : 0;
}

uint64_t breaker_wait_ms(const struct breaker *breaker, uint64_t now_ms)
{
	if (breaker->state != BREAKER_STATE_OPEN || now_ms >= breaker->open_until_ms)
		return 0;
	return breaker->open_until_ms - now_ms;
}

bool breaker_note_success(struct breaker *breaker, uint64_t now_ms)
{
	breaker->failure_count = 0;
	switch (breaker->state) {
	case BREAKER_STATE_CLOSED:
		if (find_limit(breaker) < CALL_LIMIT_MAX)
			breaker->call_limit = find_limit(breaker) + 1;
		return false;
	case BREAKER_STATE_OPEN:
		/* A call begun before: good news, but only a probe closes. */
		breaker->open_until_ms = now_ms;
		return false;
	case BREAKER_STATE_PROBING:
		breaker->state = BREAKER_STATE_CLOSED;
		breaker->call_limit = BREAKER_NEXT_CALLS;
		breaker->openings = 0;
		breaker->failed_subject = 0;
		return true;
	}
	return false;
}

/* The newest failure of each task, the oldest first. */
static void remember(struct breaker *breaker, const struct breaker_failure *failure)
{
	size_t kept = 0;

	for (size_t i = 0; i < breaker->failure_count; i++) {
		const struct breaker_failure *old = &breaker->failures[i];

		if (old->task_id != failure->task_id &&
			failure->at_ms - old->at_ms <= BREAKER_MEMORY_MS)
			breaker->failures[kept++] = *old;
	}
	if (kept == BREAKER_FAILURES)
		memmove(breaker->failures, breaker->failures + 1,
			--kept * sizeof(breaker->failures[0]));
	breaker->failures[kept] = *failure;
	breaker->failure_count = kept + 1;
}

static bool are_related(const struct breaker_failure *one, const struct breaker_failure *other)
{
	return one == other ||
	       (!one->is_of_host && !other->is_of_host && one->subject == other->subject);
}

/* Failures outside the largest group of related ones. */
static size_t count_strangers(const struct breaker *breaker)
{
	size_t largest = 0;

	for (size_t i = 0; i < breaker->failure_count; i++) {
		size_t related = 0;

		for (size_t k = 0; k < breaker->failure_count; k++)
			related +=
				are_related(&breaker->failures[i], &breaker->failures[k]) ? 1 : 0;
		largest = related > largest ? related : largest;
	}
	return breaker->failure_count - largest;
}

static void open_breaker(struct breaker *breaker, uint64_t now_ms)
{
	uint64_t pause_ms =
		backoff_limit_ms(breaker->openings, BREAKER_PAUSE_MS, BREAKER_PAUSE_MAX_MS);

	breaker->state = BREAKER_STATE_OPEN;
	breaker->openings++;
	breaker->failure_count = 0;
	breaker->open_until_ms = now_ms + pause_ms / 2 + random_up_to(pause_ms / 2);
}

bool breaker_note_failure(struct breaker *breaker, const struct breaker_failure *failure)
{
	switch (breaker->state) {
	case BREAKER_STATE_CLOSED:
		remember(breaker, failure);
		if (breaker->failure_count < BREAKER_FAILURES ||
			count_strangers(breaker) < BREAKER_STRANGERS)
			return false;
		open_breaker(breaker, failure->at_ms);
		return true;
	case BREAKER_STATE_OPEN:
		return false; /* a call begun before */
	case BREAKER_STATE_PROBING:
		breaker->failed_subject = failure->is_of_host ? 0 : failure->subject;
		open_breaker(breaker, failure->at_ms);
		return true;
	}
	return false;
}
