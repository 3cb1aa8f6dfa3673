/*
 * json - text into values and back, with limits on size and depth.
 *
 * One owner of the root; values read from it are borrowed.  Doubled keys are refused.
 */
#ifndef COMMON_IO_JSON_H
#define COMMON_IO_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/result.h"

struct json;

enum {
	JSON_DEPTH_MAX = 32
};

/* PERMANENT with a reason: too long, too deep, broken, a doubled key, no object or array. */
MUST_USE enum result json_parse(const void *text, size_t size, size_t size_max,
	struct json **root_out, struct error *error);
MUST_USE struct json *json_create_object(void);
MUST_USE struct json *json_create_array(void);
void json_destroy(struct json **root);

/* Compact, owned by the caller. */
MUST_USE char *json_write(const struct json *root);

/* ---- reading; borrowed.  NULL or false when absent or of another type. */
bool json_is_object(const struct json *value);
bool json_is_array(const struct json *value);
const struct json *json_get(const struct json *object, const char *key);
const char *json_get_text(const struct json *object, const char *key);
bool json_get_int(const struct json *object, const char *key, int64_t *value_out);
bool json_get_bool(const struct json *object, const char *key, bool *value_out);
/* A whole number or one with a fraction. */
bool json_get_number(const struct json *object, const char *key, double *value_out);
/* The value itself; NULL or false when it is of another type. */
const char *json_as_text(const struct json *value);
bool json_as_int(const struct json *value, int64_t *value_out);
bool json_as_bool(const struct json *value, bool *value_out);
/* Every member of an object. */
void json_each(const struct json *object,
	void (*take)(void *context, const char *key, const struct json *value), void *context);
size_t json_count(const struct json *array);
const struct json *json_at(const struct json *array, size_t index);

/* ---- building; object must be one of ours.  Texts that are no UTF-8 are cleaned first. */
void json_set_text(struct json *object, const char *key, const char *text); /* NULL: null */
void json_set_int(struct json *object, const char *key, int64_t value);
void json_set_bool(struct json *object, const char *key, bool value);
/* 64-bit ids are strings in JSON. */
void json_set_id(struct json *object, const char *key, uint64_t id);
/* Takes value over and sets the pointer to NULL. */
void json_adopt(struct json *object, const char *key, struct json **value);
void json_append_adopt(struct json *array, struct json **value);
void json_append_text(struct json *array, const char *text);

#endif
