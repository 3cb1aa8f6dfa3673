#include "demo/shop/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/text.h"

enum {
	TERMINAL_INTERVAL_MS = 200,
	PLAIN_INTERVAL_MS = 2000,
	LINE_SIZE = 256,
};

void progress_start(struct progress *progress, uint64_t wanted)
{
	progress->wanted = wanted;
	progress->has_terminal = isatty(STDERR_FILENO) != 0;
	progress->start_ms = clock_now_ms();
	progress->next_ms = progress->start_ms + PLAIN_INTERVAL_MS;
	if (progress->has_terminal)
		progress->next_ms = progress->start_ms;
}

static void show(const struct progress *progress)
{
	char goal[LINE_SIZE] = "";
	char trouble[LINE_SIZE] = "";
	uint64_t took_ms = clock_now_ms() - progress->start_ms;

	if (progress->wanted > 0)
		(void)text_format(goal, sizeof(goal), " of %" PRIu64, progress->wanted);
	if (progress->refused + progress->failed > 0)
		(void)text_format(trouble, sizeof(trouble),
			", %" PRIu64 " refused, %" PRIu64 " failed", progress->refused,
			progress->failed);
	(void)fprintf(stderr,
		"%s%" PRIu64 "%s orders, %" PRIu64 "/s, %" PRIu64 " paid, %" PRIu64
		" will be, %" PRIu64 " came too late%s%s",
		progress->has_terminal ? "\r" : "", progress->inserted, goal,
		progress->inserted * 1000 / (took_ms == 0 ? 1 : took_ms), progress->paid,
		progress->to_pay, progress->too_late, trouble,
		progress->has_terminal ? "\033[K" : "\n");
}

void progress_show(struct progress *progress)
{
	uint64_t now_ms = clock_now_ms();

	if (now_ms < progress->next_ms)
		return;
	progress->next_ms =
		now_ms + (progress->has_terminal ? TERMINAL_INTERVAL_MS : PLAIN_INTERVAL_MS);
	show(progress);
}

void progress_finish(struct progress *progress, const char *prefix)
{
	if (progress->has_terminal) {
		show(progress);
		(void)fputc('\n', stderr);
	}
	(void)printf("prefix=%s orders=%" PRIu64 " refused=%" PRIu64 " failed=%" PRIu64
		     " paid=%" PRIu64 " too_late=%" PRIu64 " took_ms=%" PRIu64 "\n",
		prefix, progress->inserted, progress->refused, progress->failed, progress->paid,
		progress->too_late, clock_now_ms() - progress->start_ms);
}
