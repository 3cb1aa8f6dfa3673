/*
 * text - bounded strings: copy, format, clip at a character, parse numbers, durations, keys.
 */
#ifndef COMMON_BASE_TEXT_H
#define COMMON_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/compiler.h"

/* Sizes of buffers with room for the NUL byte. */
enum {
	TEXT_KEY_MAX = 64, /* longest order_no, sku_id, trade_no */
	TEXT_KEY_SIZE = TEXT_KEY_MAX + 1,
	TEXT_IDEMPOTENCY_KEY_SIZE = 192 + 1,
};

/* Copies and terminates; false when the source did not fit whole. */
bool text_copy(char *target, size_t target_size, const char *source);
/* Formats and terminates; false when it did not fit whole. */
bool text_format(char *target, size_t target_size, const char *format, ...) PRINTF_LIKE(3, 4);

/*
 * Copies source as valid UTF-8 that fits target_size - 1 bytes: cut at a character boundary, bytes
 * that are no UTF-8 and control characters become '?'.  Returns the length written.
 */
size_t text_clip(char *target, size_t target_size, const void *source, size_t source_size);

/* Whole text is one decimal number inside the bounds: no sign, blank or other character. */
bool text_parse_uint(const char *text, uint64_t minimum, uint64_t maximum, uint64_t *value_out);
/* "250ms", "30s", "5m", "2h", "7d": a whole number with its unit, in milliseconds; or "0". */
bool text_parse_duration(const char *text, uint64_t *milliseconds_out);
/* Writes a duration the way text_parse_duration reads it, with the largest unit that is exact. */
void text_format_duration(char *target, size_t target_size, uint64_t milliseconds);

/* Milliseconds since 1970 as "2026-01-31T10:21:03.120Z". */
void text_format_time(char *target, size_t target_size, uint64_t epoch_ms);
/* Reads it, with 0 to 6 digits behind the point; false: it is no such time. */
bool text_parse_time(const char *text, int64_t *epoch_ms_out);

/* 1 to size_max bytes of [A-Za-z0-9._:-]: what may become a business key. */
bool text_is_key(const void *text, size_t size, size_t size_max);
/* Same bytes, ended by the NUL byte. */
bool text_equals(const char *left, const char *right);
bool text_starts_with(const char *text, const char *prefix);
/* The place of word, which may be NULL, among words that are ended by NULL; the place of that NULL
 * when it is none of them. */
size_t text_find(const char *const *words, const char *word);
bool text_is_one_of(const char *const *words, const char *word);

/* Number of inserted, deleted or replaced characters between two texts of at most 63 bytes. */
size_t text_distance(const char *left, const char *right);

/* FNV-1a 64 of the bytes of text, going on from hash, which is TEXT_HASH_START at first. */
#define TEXT_HASH_START UINT64_C(0xcbf29ce484222325)
uint64_t text_hash(uint64_t hash, const char *text);

/* Lower-case hexadecimal digits of bytes; target needs 2 * size + 1 bytes. */
void text_hex(char *target, const uint8_t *bytes, size_t size);

#endif
