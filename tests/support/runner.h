/*
 * runner - the main function of a test program, and the seed of its random choices.
 *
 *     int main(void)
 *     {
 *             const TTest *const tests[] = { a_copy_that_does_not_fit_is_cut, ... };
 *
 *             return runner_run("text", tests, ARRAY_LENGTH(tests));
 *     }
 *
 * The name of a test is a true sentence.  CK_FORK=no runs all in one process.
 */
#ifndef TESTS_SUPPORT_RUNNER_H
#define TESTS_SUPPORT_RUNNER_H

#include <stddef.h>
#include <stdint.h>

#include <check.h>

#include "common/base/compiler.h"

enum {
	RUNNER_SKIPPED = 77
};

/* Runs around each test; the second one also when the test failed (with CK_FORK=no). */
struct runner_fixture {
	void (*set_up)(void);
	void (*tear_down)(void);
};

/* The exit status: 0 when every test passed. */
int runner_run(const char *name, const TTest *const *tests, size_t count);
int runner_run_with(const char *name, const struct runner_fixture *fixture,
	const TTest *const *tests, size_t count);

/*
 * The seed is TEST_SEED of the environment, or new; it is printed once.  Choices by runner_random
 * are the same for the same seed and the same order of calls.
 */
uint64_t runner_seed(void);
/* Evenly spread over 0 ... limit, both included. */
uint64_t runner_random(uint64_t limit);

#endif
