/*
 * child - runs a function in a process of its own, for code that ends the process or uses its
 * signals, and gives back how it ended and what it wrote to standard error.
 */
#ifndef TESTS_SUPPORT_CHILD_H
#define TESTS_SUPPORT_CHILD_H

#include <stddef.h>

enum {
	CHILD_OUTPUT_SIZE = 32768
};

struct child_end {
	int status; /* exit status, or -1 when a signal ended it */
	int signal; /* the number of that signal, or 0 */
	char output[CHILD_OUTPUT_SIZE];
	size_t output_size;
};

/* A function that returns ends its process with 0. */
void child_run(void (*function)(void *context), void *context, struct child_end *end_out);

#endif
