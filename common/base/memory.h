/*
 * memory - allocation that never returns NULL.
 *
 * When memory is used up the process writes one line and leaves with EXIT_STATUS_TRY_AGAIN.  A size
 * that comes from outside is therefore checked against a limit before it gets here.  What these
 * functions return is released with free().
 */
#ifndef COMMON_BASE_MEMORY_H
#define COMMON_BASE_MEMORY_H

#include <stddef.h>

#include "common/base/compiler.h"

/* size_bytes zeroed bytes; size 0 gives a pointer that can be freed. */
MUST_USE void *memory_allocate(size_t size_bytes);
/* count zeroed items; an overflow of the product counts as used-up memory. */
MUST_USE void *memory_allocate_array(size_t count, size_t item_size_bytes);
/* Like realloc; new items are not zeroed. */
MUST_USE void *memory_resize_array(void *array, size_t count, size_t item_size_bytes);
/* A copy of a NUL-terminated text; NULL gives NULL. */
MUST_USE char *memory_copy_text(const char *text);
/* A NUL-terminated copy of size_bytes bytes. */
MUST_USE char *memory_copy_bytes(const void *bytes, size_t size_bytes);
/* Overwrites before the memory goes back, so that a secret does not stay behind.  NULL is fine. */
void memory_wipe(void *bytes, size_t size_bytes);
/* For a process whose pieces differ much in size: what is large goes back to the system as soon as
 * it is freed, instead of being kept at its largest.  Costs a fault a page. */
void memory_return_early(void);

#endif
