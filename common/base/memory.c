#include "common/base/memory.h"

#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/result.h"

enum {
	LARGE_BYTES = 64 * 1024, /* from here on a piece has a mapping of its own */
	SPARE_BYTES = 128 * 1024,
};

NO_RETURN static void leave_without_memory(size_t size_bytes)
{
	(void)fprintf(stderr, "out of memory: %zu bytes wanted\n", size_bytes);
	_Exit(EXIT_STATUS_TRY_AGAIN);
}

void *memory_allocate(size_t size_bytes)
{
	return memory_allocate_array(1, size_bytes);
}

void *memory_allocate_array(size_t count, size_t item_size_bytes)
{
	if (count == 0 || item_size_bytes == 0) {
		count = 1;
		item_size_bytes = 1;
	}
	void *memory = calloc(count, item_size_bytes);
	if (memory == NULL)
		leave_without_memory(item_size_bytes);
	return memory;
}

void *memory_resize_array(void *array, size_t count, size_t item_size_bytes)
{
	if (item_size_bytes != 0 && count > SIZE_MAX / item_size_bytes)
		leave_without_memory(SIZE_MAX);
	size_t size_bytes = count * item_size_bytes;
	void *memory = realloc(array, size_bytes == 0 ? 1 : size_bytes);
	if (memory == NULL)
		leave_without_memory(size_bytes);
	return memory;
}

char *memory_copy_text(const char *text)
{
	return text == NULL ? NULL : memory_copy_bytes(text, strlen(text));
}

char *memory_copy_bytes(const void *bytes, size_t size_bytes)
{
	char *copy = memory_allocate(size_bytes + 1);

	if (size_bytes > 0)
		memcpy(copy, bytes, size_bytes);
	return copy;
}

void memory_wipe(void *bytes, size_t size_bytes)
{
	volatile unsigned char *byte = bytes;

	for (size_t i = 0; byte != NULL && i < size_bytes; i++)
		byte[i] = 0;
}

/* Set by hand, the limits do not grow with what was allocated. */
void memory_return_early(void)
{
	(void)mallopt(M_MMAP_THRESHOLD, LARGE_BYTES);
	(void)mallopt(M_TRIM_THRESHOLD, SPARE_BYTES);
}
