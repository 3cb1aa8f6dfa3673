#include "sweeper/once.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/shutdown.h"
#include "sweeper/sweeper.h"

enum {
	TRY_MAX = 5,
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

int once_run(struct sweeper *sweeper)
{
	struct sweeper_progress progress = { .closed = 0 };
	struct error error = { .text = "" };
	uint64_t start_ms = clock_now_ms();
	uint64_t due = 0;
	/* Only for the estimate; trouble shows in the first batch. */
	(void)!sweeper_count_due(sweeper, COUNT_MAX, &due, &error);
	enum result result;
	do {
		result = sweep_patiently(sweeper, &progress, &error);
		show_progress(&progress, due, start_ms);
		service_note_turn();
	} while (result == RESULT_OK && !progress.is_pass_over && !shutdown_is_requested());
	if (isatty(STDERR_FILENO) != 0)
		(void)fputc('\n', stderr);
	if (result != RESULT_OK && result != RESULT_NONE) {
		log_error(log_event("sweep_failed"), log_text("error", error.text));
		return EXIT_STATUS_TRY_AGAIN;
	}
	log_info(log_event("sweep_done"), log_uint("closed", progress.closed),
		log_uint("failed", progress.failed),
		log_uint("took_ms", clock_now_ms() - start_ms));
	return progress.failed > 0 ? EXIT_STATUS_FAILED : EXIT_STATUS_OK;
}
