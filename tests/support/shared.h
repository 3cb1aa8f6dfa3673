/*
 * shared - memory that a test and the small servers it forks both see.
 */
#ifndef TESTS_SUPPORT_SHARED_H
#define TESTS_SUPPORT_SHARED_H

#include <stddef.h>
#include <sys/types.h>

/* Zeroed; pages that are never touched cost nothing. */
void *shared_create(size_t size_bytes);
void shared_destroy(void *memory, size_t size_bytes);

/*
 * Runs serve(context) in a child process that dies with this one.  serve must not use Check: there
 * is nobody to fail.
 */
pid_t shared_fork(void (*serve)(void *context), void *context);
/* Ends such a child. */
void shared_end(pid_t child);

#endif
