#include "common/base/log.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/text.h"

enum {
	LINE_SIZE = 8192,
	VALUE_SIZE = 4096
};

struct line {
	char text[LINE_SIZE];
	size_t length;
	bool is_full; /* something did not fit */
};

const char *const log_level_names[] = { "error", "warn", "info", "debug", NULL };
const char *const log_format_names[] = { "auto", "json", "text", NULL };

static_assert(ARRAY_LENGTH(log_level_names) == LOG_LEVEL_DEBUG + 2, "one name per level");
static_assert(ARRAY_LENGTH(log_format_names) == LOG_FORMAT_TEXT + 2, "one name per format");

static const char *log_program = "lapse";
static const char *log_version = "";
static const char *log_instance = "";
static bool log_as_json = true;
/* The ops thread logs too. */
static _Atomic(enum log_level) log_level_limit = LOG_LEVEL_INFO;

void log_open(
	const char *program, const char *version, const char *instance, enum log_format format)
{
	log_program = program;
	log_version = version;
	log_instance = instance;
	log_as_json = format == LOG_FORMAT_JSON ||
		      (format == LOG_FORMAT_AUTO && isatty(STDERR_FILENO) == 0);
}

void log_set_level(enum log_level level)
{
	log_level_limit = level;
}

enum log_level log_get_level(void)
{
	return log_level_limit;
}

/* The end of a line from which fields were left out, and its brace and newline, always fit. */
static const char cut_text[] = " cut=true";
static const char cut_json[] = ",\"cut\":\"true\"";

enum {
	TEXT_MAX = LINE_SIZE - sizeof(cut_json) - sizeof("}\n")
};

/* All of it or nothing. */
static void append(struct line *line, const char *text, size_t size)
{
	if (line->is_full || size > TEXT_MAX - line->length) {
		line->is_full = true;
		return;
	}
	memcpy(line->text + line->length, text, size);
	line->length += size;
}

static void append_text(struct line *line, const char *text)
{
	append(line, text, strlen(text));
}

static void append_quoted(struct line *line, const char *value)
{
	append_text(line, "\"");
	for (const char *c = value; *c != '\0'; c++) {
		if (*c == '"' || *c == '\\')
			append_text(line, "\\");
		append(line, c, 1);
	}
	append_text(line, "\"");
}

/* In a text line a value without blanks and quotes stands bare. */
static void append_value(struct line *line, const char *value)
{
	char clean[VALUE_SIZE];

	(void)text_clip(clean, sizeof(clean), value == NULL ? "" : value,
		value == NULL ? 0 : strlen(value));
	if (log_as_json || clean[0] == '\0' || strpbrk(clean, " \"=\\") != NULL)
		append_quoted(line, clean);
	else
		append_text(line, clean);
}

static void append_key(struct line *line, const char *key)
{
	if (!log_as_json) {
		append_text(line, " ");
		append_text(line, key);
		append_text(line, "=");
		return;
	}
	append_text(line, line->length == 1 ? "" : ",");
	append_quoted(line, key);
	append_text(line, ":");
}

static void append_field(struct line *line, const struct log_field *field)
{
	char number[24];

	append_key(line, field->key);
	switch (field->kind) {
	case LOG_FIELD_TEXT:
		append_value(line, field->text);
		return;
	case LOG_FIELD_UINT:
		(void)text_format(number, sizeof(number), "%" PRIu64, field->uint);
		break;
	case LOG_FIELD_INT:
		(void)text_format(number, sizeof(number), "%" PRId64, field->sint);
		break;
	case LOG_FIELD_END:
		return;
	}
	append_text(line, number);
}

static void append_head(struct line *line, enum log_level level, const char *event)
{
	char now[40];

	text_format_time(now, sizeof(now), clock_epoch_ms());
	if (!log_as_json) {
		append_text(line, now);
		append_text(line, " ");
		append_text(line, log_level_names[level]);
		append_text(line, " ");
		append_text(line, log_program);
		append_text(line, " ");
		append_text(line, event);
		return;
	}
	append_text(line, "{");
	const struct log_field head[] = {
		log_text("time", now),
		log_text("level", log_level_names[level]),
		log_event(event),
		log_text("program", log_program),
		log_text("instance", log_instance),
		log_text("version", log_version),
	};
	for (size_t i = 0; i < ARRAY_LENGTH(head); i++)
		append_field(line, &head[i]);
}

/* A field that does not fit is left out whole, so that the line stays well-formed. */
static void append_fields(struct line *line, const struct log_field *fields)
{
	bool is_cut = line->is_full;

	for (const struct log_field *field = fields; field->kind != LOG_FIELD_END; field++) {
		size_t length = line->length;

		line->is_full = false;
		append_field(line, field);
		if (!line->is_full)
			continue;
		line->length = length;
		is_cut = true;
	}
	if (!is_cut)
		return;
	const char *note = log_as_json ? cut_json : cut_text;
	memcpy(line->text + line->length, note, strlen(note));
	line->length += strlen(note);
}

void log_write(enum log_level level, const struct log_field *fields)
{
	struct line line;

	if (level > log_level_limit)
		return;
	line.length = 0;
	line.is_full = false;
	append_head(&line, level, fields[0].text);
	append_fields(&line, fields + 1);
	if (log_as_json)
		line.text[line.length++] = '}';
	line.text[line.length++] = '\n';
	/* Nobody is left to tell when standard error is gone. */
	if (write(STDERR_FILENO, line.text, line.length) < 0)
		return;
}

bool log_is_worth_repeating(uint64_t *count)
{
	uint64_t power = 1;

	*count += 1;
	while (power < *count)
		power *= 10;
	return power == *count;
}
