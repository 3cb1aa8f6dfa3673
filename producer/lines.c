#include "producer/lines.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/memory.h"
#include "common/io/json.h"

enum {
	BUFFER_SIZE = 2 * LINES_LENGTH_MAX,
	SHOWN_SIZE = 80
};

struct lines {
	int file;
	bool is_at_end;
	bool is_too_long; /* the rest of a long line is thrown away */
	size_t first;     /* bytes that are not taken yet */
	size_t end;
	char shown[SHOWN_SIZE];
	char buffer[BUFFER_SIZE];
};

void lines_create(int file, struct lines **lines_out)
{
	struct lines *lines = memory_allocate(sizeof(*lines));

	lines->file = file;
	*lines_out = lines;
}

void lines_destroy(struct lines **lines)
{
	free(*lines);
	*lines = NULL;
}

const char *lines_shown(const struct lines *lines)
{
	return lines->shown;
}

bool lines_read_order_no(const char *text, size_t size, char order_no_out[TEXT_KEY_SIZE])
{
	struct json *root = NULL;
	const char *order_no = text;
	size_t length = size;

	if (size > 0 && text[0] == '{') {
		if (json_parse(text, size, LINES_LENGTH_MAX, &root, NULL) != RESULT_OK)
			return false;
		order_no = json_get_text(root, "order_no");
		length = order_no == NULL ? 0 : strlen(order_no);
	}
	bool is_key = order_no != NULL && text_is_key(order_no, length, TEXT_KEY_MAX);
	if (is_key) {
		memcpy(order_no_out, order_no, length);
		order_no_out[length] = '\0';
	}
	json_destroy(&root);
	return is_key;
}

/* Reads once; false: nothing came inside the time. */
static bool read_more(struct lines *lines, uint64_t wait_ms)
{
	struct pollfd news = { .fd = lines->file, .events = POLLIN };

	if (poll(&news, 1, (int)wait_ms) <= 0)
		return false;
	memmove(lines->buffer, lines->buffer + lines->first, lines->end - lines->first);
	lines->end -= lines->first;
	lines->first = 0;
	ssize_t got = read(lines->file, lines->buffer + lines->end, BUFFER_SIZE - lines->end);
	if (got > 0)
		lines->end += (size_t)got;
	else
		lines->is_at_end = true; /* also after an error: there will be no more */
	return true;
}

/* The length of the line that starts at first; false: its end has not come yet. */
static bool find_end(const struct lines *lines, size_t *length_out)
{
	const char *start = lines->buffer + lines->first;
	size_t size = lines->end - lines->first;
	const char *newline = size == 0 ? NULL : memchr(start, '\n', size);

	*length_out = newline == NULL ? size : (size_t)(newline - start);
	return newline != NULL || (lines->is_at_end && size > 0);
}

static enum lines_answer judge(
	struct lines *lines, const char *text, size_t length, char order_no_out[TEXT_KEY_SIZE])
{
	if (!lines->is_too_long && length <= LINES_LENGTH_MAX &&
		lines_read_order_no(text, length, order_no_out))
		return LINES_ORDER;
	(void)text_clip(lines->shown, sizeof(lines->shown), text, length);
	return LINES_MALFORMED;
}

/* Takes the line of this length and its end. */
static enum lines_answer take(struct lines *lines, size_t length, char order_no_out[TEXT_KEY_SIZE])
{
	const char *text = lines->buffer + lines->first;
	size_t clean = length > 0 && text[length - 1] == '\r' ? length - 1 : length;
	enum lines_answer answer = LINES_NONE;

	lines->first += length + (lines->first + length < lines->end ? 1 : 0);
	if (clean > 0 || lines->is_too_long)
		answer = judge(lines, text, clean, order_no_out);
	lines->is_too_long = false;
	return answer;
}

enum lines_answer lines_next(
	struct lines *lines, uint64_t wait_ms, char order_no_out[TEXT_KEY_SIZE])
{
	size_t length = 0;

	for (;;) {
		if (find_end(lines, &length)) {
			enum lines_answer answer = take(lines, length, order_no_out);

			if (answer != LINES_NONE)
				return answer; /* else the line is empty */
			continue;
		}
		if (lines->is_at_end)
			return LINES_END;
		if (length > LINES_LENGTH_MAX) {
			/* Only its end matters now; one byte stays to be shown. */
			lines->is_too_long = true;
			lines->end = lines->first + 1;
		}
		if (!read_more(lines, wait_ms))
			return LINES_NONE;
	}
}
