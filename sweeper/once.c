#include "sweeper/once.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/shutdown.h"
#include "sweeper/sweeper.h"

enum {
	TRY_MAX = 5,  /* for a server that is away */
	PASS_MAX = 3, /* for orders that somebody holds */
	PAUSE_MS = 1000,
	COUNT_MAX = 1000000
};

static void show_progress(const struct sweeper_progress *progress, uint64_t due, uint64_t start_ms)
{
	uint64_t took_ms = clock_now_ms() - start_ms;
	uint64_t left = due > progress->closed ? due - progress->closed : 0;
	uint64_t left_s = progress->closed == 0 ? 0 : left * took_ms / progress->closed / 1000;

	if (isatty(STDERR_FILENO) != 0)
		(void)fprintf(stderr,
			"\r%" PRIu64 " of %" PRIu64 " closed, about %" PRIu64 " s left ",
			progress->closed, due, left_s);
}

/* Trouble with the server is tried again a few times; NONE: the pass is over. */
static enum result sweep_patiently(
	struct sweeper *sweeper, struct sweeper_progress *progress, struct error *error)
{
	enum result result = RESULT_TEMPORARY;

	for (int i = 0; i < TRY_MAX; i++) {
		if (i > 0)
			clock_wait_ms(PAUSE_MS);
		uint64_t due = 0;
		result = sweeper_count_due(sweeper, 1, &due, error);
		if (result == RESULT_OK)
			result = sweeper_sweep_batch(sweeper, progress, error);
		if (result == RESULT_OK || result == RESULT_NONE || shutdown_is_requested())
			break;
	}
	return result;
}

/* One pass from the oldest order to the last one. */
static enum result sweep_once(struct sweeper *sweeper, struct sweeper_progress *progress,
	uint64_t due, struct error *error)
{
	uint64_t start_ms = clock_now_ms();
	enum result result = RESULT_OK;

	progress->is_pass_over = false;
	progress->failed = 0; /* those are met again */
	while (result == RESULT_OK && !progress->is_pass_over && !shutdown_is_requested()) {
		result = sweep_patiently(sweeper, progress, error);
		show_progress(progress, due, start_ms);
		service_note_turn();
	}
	sweeper_start_pass(sweeper);
	return result == RESULT_NONE ? RESULT_OK : result;
}

/* Orders that somebody held are looked at again, a few times; left_out: how many still are. */
static enum result sweep_all(struct sweeper *sweeper, struct sweeper_progress *progress,
	uint64_t *left_out, struct error *error)
{
	uint64_t due = 0;
	enum result result = RESULT_OK;

	/* Only for the estimate; trouble shows in the first batch. */
	(void)!sweeper_count_due(sweeper, COUNT_MAX, &due, error);
	for (int i = 0; i < PASS_MAX && result == RESULT_OK; i++) {
		if (i > 0)
			clock_wait_ms(PAUSE_MS);
		result = sweep_once(sweeper, progress, due, error);
		if (result == RESULT_OK)
			result = sweeper_count_due(sweeper, COUNT_MAX, left_out, error);
		if (*left_out <= progress->failed || shutdown_is_requested())
			break;
	}
	return result;
}

int once_run(struct sweeper *sweeper)
{
	struct sweeper_progress progress = { .closed = 0 };
	struct error error = { .text = "" };
	uint64_t start_ms = clock_now_ms();
	uint64_t left = 0;
	enum result result = sweep_all(sweeper, &progress, &left, &error);

	if (isatty(STDERR_FILENO) != 0)
		(void)fputc('\n', stderr);
	if (result != RESULT_OK) {
		log_error(log_event("sweep_failed"), log_text("error", error.text));
		return EXIT_STATUS_TRY_AGAIN;
	}
	log_info(log_event("sweep_done"), log_uint("closed", progress.closed),
		log_uint("failed", progress.failed), log_uint("left", left),
		log_uint("took_ms", clock_now_ms() - start_ms));
	if (progress.failed > 0)
		return EXIT_STATUS_FAILED;
	return left > 0 || shutdown_is_requested() ? EXIT_STATUS_TRY_AGAIN : EXIT_STATUS_OK;
}
