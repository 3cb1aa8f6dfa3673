/*
 * wait_until - polls a condition, with a limit.  Tests never wait for a time.
 */
#ifndef TESTS_SUPPORT_WAIT_UNTIL_H
#define TESTS_SUPPORT_WAIT_UNTIL_H

#include <stdbool.h>
#include <stdint.h>

enum {
	WAIT_LIMIT_MS = 60000 /* generous: the machine may be busy, the program under a sanitizer */
};

/* true as soon as condition holds; false when it does not within the limit. */
bool wait_until(bool (*condition)(void *context), void *context, uint64_t limit_ms);

/* The same, and a test that waited in vain fails with what it waited for. */
#define WAIT_UNTIL(condition, context) WAIT_UNTIL_WITHIN(condition, context, WAIT_LIMIT_MS)
#define WAIT_UNTIL_WITHIN(condition, context, limit_ms) \
	ck_assert_msg(                                  \
		wait_until((condition), (context), (limit_ms)), "waited in vain for " #condition)

#endif
