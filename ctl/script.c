#include "ctl/script.h"

#include <string.h>
#include <strings.h>

#include "common/base/text.h"

static const char delimiter_word[] = "DELIMITER";

void script_begin(struct script *script, const char *text, size_t size)
{
	*script = (struct script){ .text = text, .size = size };
	(void)text_copy(script->delimiter, sizeof(script->delimiter), ";");
}

static bool is_blank(char character)
{
	return character == ' ' || character == '\t' || character == '\r' || character == '\n';
}

static bool starts_here(const struct script *script, size_t place, const char *word)
{
	size_t length = strlen(word);

	return script->size - place >= length && memcmp(script->text + place, word, length) == 0;
}

static size_t skip_line(const struct script *script, size_t place)
{
	const char *end = memchr(script->text + place, '\n', script->size - place);

	return end == NULL ? script->size : (size_t)(end - script->text) + 1;
}

/* "--" opens a comment only when a blank or the end follows. */
static bool is_line_comment(const struct script *script, size_t place)
{
	if (script->text[place] == '#')
		return true;
	return starts_here(script, place, "--") &&
	       (place + 2 == script->size || is_blank(script->text[place + 2]));
}

static size_t skip_block_comment(const struct script *script, size_t place)
{
	for (place += 2; place < script->size; place++)
		if (starts_here(script, place, "*/"))
			return place + 2;
	return script->size;
}

/* A quote inside is doubled, or behind a backslash except in `names`. */
static size_t skip_quoted(const struct script *script, size_t place)
{
	char quote = script->text[place];

	for (place++; place < script->size; place++) {
		if (script->text[place] == '\\' && quote != '`')
			place++;
		else if (script->text[place] == quote)
			return place + 1;
	}
	return script->size;
}

/* Past what may hide a delimiter, or past one character. */
static size_t skip_piece(const struct script *script, size_t place)
{
	char character = script->text[place];

	if (is_line_comment(script, place))
		return skip_line(script, place);
	if (starts_here(script, place, "/*"))
		return skip_block_comment(script, place);
	if (character == '\'' || character == '"' || character == '`')
		return skip_quoted(script, place);
	return place + 1;
}

/* "/ *!" holds a statement for the server and is none of the comments that are left out. */
static bool is_comment(const struct script *script, size_t place)
{
	return is_line_comment(script, place) ||
	       (starts_here(script, place, "/*") && !starts_here(script, place, "/*!"));
}

static void skip_space(struct script *script)
{
	while (script->place < script->size) {
		if (is_blank(script->text[script->place]))
			script->place++;
		else if (is_comment(script, script->place))
			script->place = skip_piece(script, script->place);
		else
			return;
	}
}

/* A line DELIMITER xx at the start of a statement; it is for the client and never sent. */
static bool take_delimiter(struct script *script)
{
	size_t length = sizeof(delimiter_word) - 1;
	const char *line = script->text + script->place;
	size_t rest = script->size - script->place;

	if (rest <= length || strncasecmp(line, delimiter_word, length) != 0 ||
		(line[length] != ' ' && line[length] != '\t'))
		return false;
	size_t end = skip_line(script, script->place) - script->place;
	while (length < end && is_blank(line[length]))
		length++;
	size_t used = 0;
	while (length + used < end && !is_blank(line[length + used]))
		used++;
	if (used > 0 && used < sizeof(script->delimiter)) {
		memcpy(script->delimiter, line + length, used);
		script->delimiter[used] = '\0';
	}
	script->place += end;
	return true;
}

static size_t find_end(const struct script *script)
{
	size_t place = script->place;

	while (place < script->size && !starts_here(script, place, script->delimiter))
		place = skip_piece(script, place);
	return place < script->size ? place : script->size;
}

bool script_next(struct script *script, const char **statement_out, size_t *size_out)
{
	for (;;) {
		skip_space(script);
		if (script->place == script->size)
			return false;
		if (take_delimiter(script))
			continue;
		size_t start = script->place;
		size_t end = find_end(script);

		script->place = end == script->size ? end : end + strlen(script->delimiter);
		while (end > start && is_blank(script->text[end - 1]))
			end--;
		if (end == start)
			continue; /* a delimiter with nothing in front of it */
		*statement_out = script->text + start;
		*size_out = end - start;
		return true;
	}
}
