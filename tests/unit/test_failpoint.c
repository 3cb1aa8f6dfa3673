#include <signal.h>
#include <stdlib.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/failpoint.h"
#include "common/base/result.h"
#include "common/base/text.h"
#include "tests/support/child.h"
#include "tests/support/runner.h"

enum {
	NOTHING_HAPPENED = 9
};

/* Passes after_claim three times, and other points beside it. */
static void pass_points(void *context)
{
	const char *wish = context;

	(void)setenv("FAILPOINT", wish, 1);
	for (int i = 0; i < 3; i++) {
		FAILPOINT("before_commit");
		FAILPOINT("after_claim");
		FAILPOINT("after");
	}
	_exit(NOTHING_HAPPENED);
}

static struct child_end run_with(const char *wish)
{
	struct child_end end;
	char text[64];

	(void)text_copy(text, sizeof(text), wish);
	child_run(pass_points, text, &end);
	return end;
}

START_TEST(a_point_that_is_not_named_does_nothing)
{
	static const char *const wishes[] = { "", "after_clai", "after_claim_x", "x",
		"after_claim::0", "after_claim:kill:4", "after_claim:kill:x" };

	for (size_t i = 0; i < ARRAY_LENGTH(wishes); i++)
		ck_assert_msg(run_with(wishes[i]).status == NOTHING_HAPPENED, "%s", wishes[i]);
}
END_TEST

START_TEST(a_named_point_kills)
{
	static const char *const wishes[] = { "after_claim", "after_claim:kill",
		"after_claim:kill:1", "after_claim:kill:3", "before_commit", "after" };

	for (size_t i = 0; i < ARRAY_LENGTH(wishes); i++)
		ck_assert_msg(run_with(wishes[i]).signal == SIGKILL, "%s", wishes[i]);
}
END_TEST

START_TEST(a_named_point_exits_when_asked_to)
{
	ck_assert_int_eq(run_with("after_claim:exit").status, EXIT_STATUS_FAILED);
	ck_assert_int_eq(run_with("after_claim:exit:2").status, EXIT_STATUS_FAILED);
}
END_TEST

START_TEST(a_named_point_stops_once_and_goes_on)
{
	char wish[] = "after_claim:stop";
	int status = 0;
	pid_t child = fork();

	if (child == 0)
		pass_points(wish);
	ck_assert_int_eq(waitpid(child, &status, WUNTRACED), child);
	ck_assert(WIFSTOPPED(status));
	ck_assert_int_eq(kill(child, SIGCONT), 0);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(WEXITSTATUS(status), NOTHING_HAPPENED);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		a_point_that_is_not_named_does_nothing,
		a_named_point_kills,
		a_named_point_exits_when_asked_to,
		a_named_point_stops_once_and_goes_on,
	};

	return runner_run("failpoint", tests, ARRAY_LENGTH(tests));
}
