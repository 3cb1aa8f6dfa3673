/*
 * result - what a function that can fail tells its caller, and the exit codes of all programs.
 *
 * The five results are instructions: whoever detects a failure picks the value, because only that
 * place knows the error code.  Nobody above looks at texts or library codes.
 */
#ifndef COMMON_BASE_RESULT_H
#define COMMON_BASE_RESULT_H

#include "common/base/compiler.h"

enum result {
	RESULT_OK,        /* done */
	RESULT_NONE,      /* nothing due, nothing found: not an error */
	RESULT_CONFLICT,  /* lost a race: somebody else moved first; nothing of ours was written */
	RESULT_TEMPORARY, /* a server is away, slow or full: the same call may work later */
	RESULT_PERMANENT, /* trying again cannot help */
};

enum exit_status {
	EXIT_STATUS_OK = 0,
	EXIT_STATUS_FAILED = 1,
	EXIT_STATUS_NOT_FOUND = 3,
	EXIT_STATUS_CONFLICT = 4,
	EXIT_STATUS_REFUSED = 5,
	EXIT_STATUS_USAGE = 64,
	EXIT_STATUS_UNAVAILABLE = 69,
	EXIT_STATUS_BUG = 70,
	EXIT_STATUS_TRY_AGAIN = 75,
	EXIT_STATUS_NO_PERMISSION = 77,
	EXIT_STATUS_CONFIGURATION = 78,
};

/* All zero bytes is a valid, empty error. */
struct error {
	char text[512]; /* what was tried, on what, and what the library answered */
};

/* Stores the text (cut when too long) and returns result.  error may be NULL. */
enum result error_set(enum result result, struct error *error, const char *format, ...)
	PRINTF_LIKE(3, 4);

/*
 * Puts "words: " in front of the text when result is a failure (CONFLICT, TEMPORARY, PERMANENT)
 * and returns result.
 */
enum result error_context(enum result result, struct error *error, const char *format, ...)
	PRINTF_LIKE(3, 4);

/* The word for a result, for logs: "ok", "none", "conflict", "temporary", "permanent". */
const char *result_name(enum result result);

/* Writes one line to standard error and leaves with EXIT_STATUS_BUG. */
NO_RETURN void require_failed(const char *condition, const char *file, int line);

/* For what cannot happen whatever the outside world does.  Stays in release builds. */
#define REQUIRE(condition)                                              \
	do {                                                            \
		if (!(condition))                                       \
			require_failed(#condition, __FILE__, __LINE__); \
	} while (0)

#endif
