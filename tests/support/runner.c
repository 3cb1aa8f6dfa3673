#include "tests/support/runner.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/base/random.h"
#include "common/base/text.h"
#include "tests/support/scratch.h"

enum {
	TEST_LIMIT_S = 60
};

static uint64_t seed;
static uint64_t random_state;

uint64_t runner_seed(void)
{
	const char *given = getenv("TEST_SEED");

	if (seed != 0)
		return seed;
	if (given == NULL || !text_parse_uint(given, 1, UINT32_MAX, &seed))
		seed = 1 + random_up_to(UINT32_MAX - 1);
	random_state = seed;
	(void)printf("seed: TEST_SEED=%" PRIu64 "\n", seed);
	(void)fflush(stdout);
	return seed;
}

/* splitmix64 (Steele, Lea and Flood, 2014): tiny, and the same on every machine. */
uint64_t runner_random(uint64_t limit)
{
	(void)runner_seed();
	random_state += UINT64_C(0x9E3779B97F4A7C15);
	uint64_t mixed = random_state;

	mixed = (mixed ^ (mixed >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
	mixed = (mixed ^ (mixed >> 27)) * UINT64_C(0x94D049BB133111EB);
	mixed ^= mixed >> 31;
	return limit == UINT64_MAX ? mixed : mixed % (limit + 1);
}

int runner_run(const char *name, const TTest *const *tests, size_t count)
{
	return runner_run_with(name, NULL, tests, count);
}

int runner_run_with(const char *name, const struct runner_fixture *fixture,
	const TTest *const *tests, size_t count)
{
	Suite *suite = suite_create(name);
	TCase *cases = tcase_create(name);

	(void)runner_seed();
	for (size_t i = 0; i < count; i++)
		tcase_add_test(cases, tests[i]);
	if (fixture != NULL)
		tcase_add_checked_fixture(cases, fixture->set_up, fixture->tear_down);
	tcase_set_timeout(cases, TEST_LIMIT_S);
	suite_add_tcase(suite, cases);
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	scratch_leave(failed > 0);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
