/*
 * log - one line per event to standard error, written with one write(2), at most 8 KiB.
 *
 * On a terminal a line reads "time level program event key=value ..."; elsewhere it is one JSON
 * object with the same keys.  An event is a fixed word; values may be anything: control characters
 * are escaped and bytes that are no UTF-8 replaced.  Never give a payload or a secret.
 *
 *     log_info(log_event("batch_closed"), log_uint("orders", count), log_text("order_no", no));
 */
#ifndef COMMON_BASE_LOG_H
#define COMMON_BASE_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/compiler.h"

enum log_level {
	LOG_LEVEL_ERROR, /* somebody must act */
	LOG_LEVEL_WARN,  /* it will be tried again */
	LOG_LEVEL_INFO,  /* state changed */
	LOG_LEVEL_DEBUG, /* for developers */
};

enum log_format {
	LOG_FORMAT_AUTO, /* text on a terminal, else JSON */
	LOG_FORMAT_JSON,
	LOG_FORMAT_TEXT,
};

enum log_field_kind {
	LOG_FIELD_END,
	LOG_FIELD_TEXT,
	LOG_FIELD_UINT,
	LOG_FIELD_INT,
};

struct log_field {
	enum log_field_kind kind;
	const char *key;
	const char *text; /* NULL reads as "" */
	uint64_t uint;
	int64_t sint;
};

/* The names log settings accept, in the order of the enums. */
extern const char *const log_level_names[];
extern const char *const log_format_names[];

/* Names the program and instance in every line.  Both are borrowed and must live until exit. */
void log_open(
	const char *program, const char *version, const char *instance, enum log_format format);
void log_set_level(enum log_level level);
enum log_level log_get_level(void);

static inline struct log_field log_text(const char *key, const char *value)
{
	return (struct log_field){ .kind = LOG_FIELD_TEXT, .key = key, .text = value };
}

static inline struct log_field log_uint(const char *key, uint64_t value)
{
	return (struct log_field){ .kind = LOG_FIELD_UINT, .key = key, .uint = value };
}

static inline struct log_field log_int(const char *key, int64_t value)
{
	return (struct log_field){ .kind = LOG_FIELD_INT, .key = key, .sint = value };
}

/* The first field of every line. */
static inline struct log_field log_event(const char *event)
{
	return log_text("event", event);
}

/* fields: the event first, ended by LOG_FIELD_END. */
void log_write(enum log_level level, const struct log_field *fields);

#define LOG_FIELDS(...) ((const struct log_field[]){ __VA_ARGS__, { .kind = LOG_FIELD_END } })

/* NOLINTBEGIN(readability-identifier-naming): used like functions, and read like them. */
#define log_error(...) log_write(LOG_LEVEL_ERROR, LOG_FIELDS(__VA_ARGS__))
#define log_warn(...)  log_write(LOG_LEVEL_WARN, LOG_FIELDS(__VA_ARGS__))
#define log_info(...)  log_write(LOG_LEVEL_INFO, LOG_FIELDS(__VA_ARGS__))
#define log_debug(...) log_write(LOG_LEVEL_DEBUG, LOG_FIELDS(__VA_ARGS__))
/* NOLINTEND(readability-identifier-naming) */

/*
 * Folds repeats: counts one more and says whether this is the first, the tenth, the hundredth, ...
 * The count is reset by setting it to 0 when the trouble is over.
 */
bool log_is_worth_repeating(uint64_t *count);

#endif
