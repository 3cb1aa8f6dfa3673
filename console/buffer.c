#include "console/buffer.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"

enum {
	FIRST_BYTES = 4096
};

void buffer_add(struct buffer *buffer, const char *bytes, size_t size)
{
	size_t needed = buffer->size + size + 1;

	if (needed > buffer->capacity) {
		buffer->capacity = needed > FIRST_BYTES / 2 ? 2 * needed : FIRST_BYTES;
		buffer->text = memory_resize_array(buffer->text, buffer->capacity, 1);
	}
	if (size > 0)
		memcpy(buffer->text + buffer->size, bytes, size);
	buffer->size += size;
	buffer->text[buffer->size] = '\0';
}

void buffer_add_text(struct buffer *buffer, const char *text)
{
	buffer_add(buffer, text, strlen(text));
}

const char *buffer_text(const struct buffer *buffer)
{
	return buffer->text == NULL ? "" : buffer->text;
}

char *buffer_take(struct buffer *buffer, size_t *size_out)
{
	char *text = buffer->text == NULL ? memory_copy_text("") : buffer->text;

	*size_out = buffer->size;
	*buffer = (struct buffer){ .text = NULL };
	return text;
}

void buffer_clear(struct buffer *buffer)
{
	free(buffer->text);
	*buffer = (struct buffer){ .text = NULL };
}

void buffer_add_encoded(struct buffer *buffer, const char *text)
{
	static const char digits[] = "0123456789ABCDEF";
	static const char plain[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~:";

	for (; *text != '\0'; text++) {
		unsigned char byte = (unsigned char)*text;
		const char code[] = { '%', digits[byte >> 4], digits[byte & 15] };

		if (strchr(plain, byte) != NULL)
			buffer_add(buffer, text, 1);
		else
			buffer_add(buffer, code, sizeof(code));
	}
}
