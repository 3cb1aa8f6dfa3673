/*
 * scratch - a folder of this test program for everything it writes: output of programs, settings
 * files.  It stays, and its name is printed, when a test failed.
 */
#ifndef TESTS_SUPPORT_SCRATCH_H
#define TESTS_SUPPORT_SCRATCH_H

#include <stdbool.h>

/* Made by the first call; the same in every call. */
const char *scratch_folder(void);
/* Called once by the runner, at the end. */
void scratch_leave(bool is_failed);
/* Writes a small file there; the path goes into path_out (PATH_MAX bytes). */
void scratch_write(const char *name, const char *content, char *path_out);

#endif
