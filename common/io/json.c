#include "common/io/json.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "common/base/memory.h"
#include "common/base/text.h"

/* The library has macros of these names; ours are functions. */
#undef json_is_object
#undef json_is_array

static const struct {
	enum json_error_code code;
	const char *words;
} parse_errors[] = {
	{ json_error_duplicate_key, "a doubled key" },
	{ json_error_invalid_utf8, "bytes that are no UTF-8" },
	{ json_error_premature_end_of_input, "ends too early" },
	{ json_error_end_of_input_expected, "something behind the end" },
	{ json_error_null_character, "a NUL in a text" },
	{ json_error_null_byte_in_key, "a NUL in a key" },
	{ json_error_numeric_overflow, "a number that is too large" },
};

static json_t *as_library(struct json *value)
{
	return (json_t *)value;
}

static const json_t *as_library_const(const struct json *value)
{
	return (const json_t *)value;
}

/* With these the library never sees a failing allocation. */
static void use_our_memory(void)
{
	json_set_alloc_funcs(memory_allocate, free);
}

/* The library's parser recurses, so the depth is looked at before it starts. */
static bool is_too_deep(const char *text, size_t size)
{
	size_t depth = 0;
	bool is_inside_text = false;

	for (size_t i = 0; i < size; i++) {
		char c = text[i];

		if (is_inside_text && c == '\\')
			i++;
		else if (c == '"')
			is_inside_text = !is_inside_text;
		else if (!is_inside_text && (c == '{' || c == '['))
			depth++;
		else if (!is_inside_text && (c == '}' || c == ']') && depth > 0)
			depth--;
		if (depth > JSON_DEPTH_MAX)
			return true;
	}
	return false;
}

static const char *describe_parse_error(enum json_error_code code)
{
	for (size_t i = 0; i < ARRAY_LENGTH(parse_errors); i++)
		if (parse_errors[i].code == code)
			return parse_errors[i].words;
	return "broken";
}

enum result json_parse(
	const void *text, size_t size, size_t size_max, struct json **root_out, struct error *error)
{
	json_error_t problem = { 0 };

	*root_out = NULL;
	if (size > size_max)
		return error_set(RESULT_PERMANENT, error, "JSON: longer than %zu bytes", size_max);
	/* The library skips a NUL behind a number. */
	if (size > 0 && memchr(text, '\0', size) != NULL)
		return error_set(RESULT_PERMANENT, error, "JSON: a NUL byte");
	if (is_too_deep(text, size))
		return error_set(
			RESULT_PERMANENT, error, "JSON: deeper than %d levels", JSON_DEPTH_MAX);
	use_our_memory();
	json_t *root = json_loadb(text, size, JSON_REJECT_DUPLICATES, &problem);
	/* The library's own words quote the text, which must not reach a log. */
	if (root == NULL)
		return error_set(RESULT_PERMANENT, error, "JSON: %s, at byte %d",
			describe_parse_error(json_error_code(&problem)), problem.position);
	*root_out = (struct json *)root;
	return RESULT_OK;
}

struct json *json_create_object(void)
{
	use_our_memory();
	return (struct json *)json_object();
}

struct json *json_create_array(void)
{
	use_our_memory();
	return (struct json *)json_array();
}

void json_destroy(struct json **root)
{
	json_decref(as_library(*root));
	*root = NULL;
}

char *json_write(const struct json *root)
{
	char *text = json_dumps(as_library_const(root), JSON_COMPACT);

	REQUIRE(text != NULL);
	return text;
}

bool json_is_object(const struct json *value)
{
	return value != NULL && json_typeof(as_library_const(value)) == JSON_OBJECT;
}

bool json_is_array(const struct json *value)
{
	return value != NULL && json_typeof(as_library_const(value)) == JSON_ARRAY;
}

const struct json *json_get(const struct json *object, const char *key)
{
	return (const struct json *)json_object_get(as_library_const(object), key);
}

const char *json_get_text(const struct json *object, const char *key)
{
	return json_string_value(json_object_get(as_library_const(object), key));
}

bool json_get_int(const struct json *object, const char *key, int64_t *value_out)
{
	return json_as_int(json_get(object, key), value_out);
}

bool json_get_bool(const struct json *object, const char *key, bool *value_out)
{
	return json_as_bool(json_get(object, key), value_out);
}

bool json_get_number(const struct json *object, const char *key, double *value_out)
{
	const json_t *value = json_object_get(as_library_const(object), key);

	if (!json_is_number(value))
		return false;
	*value_out = json_number_value(value);
	return true;
}

const char *json_as_text(const struct json *value)
{
	return json_string_value(as_library_const(value));
}

bool json_as_int(const struct json *value, int64_t *value_out)
{
	if (!json_is_integer(as_library_const(value)))
		return false;
	*value_out = json_integer_value(as_library_const(value));
	return true;
}

bool json_as_bool(const struct json *value, bool *value_out)
{
	if (!json_is_boolean(as_library_const(value)))
		return false;
	*value_out = json_is_true(as_library_const(value));
	return true;
}

void json_each(const struct json *object,
	void (*take)(void *context, const char *key, const struct json *value), void *context)
{
	/* The library's iterator wants an object it may change, and changes nothing. */
	/* NOLINTNEXTLINE(performance-no-int-to-ptr): so the const is taken away knowingly. */
	json_t *members = json_incref(as_library((struct json *)(uintptr_t)object));

	for (void *place = json_object_iter(members); place != NULL;
		place = json_object_iter_next(members, place))
		take(context, json_object_iter_key(place),
			(const struct json *)json_object_iter_value(place));
	json_decref(members);
}

size_t json_count(const struct json *array)
{
	return json_array_size(as_library_const(array));
}

const struct json *json_at(const struct json *array, size_t index)
{
	return (const struct json *)json_array_get(as_library_const(array), index);
}

static void set_new(struct json *object, const char *key, json_t *value)
{
	/* Fails only for a value or key that is no UTF-8 or an object that is none: our mistake. */
	int status = json_object_set_new(as_library(object), key, value);

	REQUIRE(status == 0);
}

static json_t *create_clean_string(const char *text)
{
	json_t *string = json_string(text);

	if (string != NULL)
		return string;
	size_t size = strlen(text);
	char *clean = memory_allocate(size + 1);
	(void)text_clip(clean, size + 1, text, size);
	string = json_string(clean);
	free(clean);
	return string;
}

void json_set_text(struct json *object, const char *key, const char *text)
{
	set_new(object, key, text == NULL ? json_null() : create_clean_string(text));
}

void json_set_int(struct json *object, const char *key, int64_t value)
{
	set_new(object, key, json_integer(value));
}

void json_set_bool(struct json *object, const char *key, bool value)
{
	set_new(object, key, json_boolean(value));
}

void json_set_id(struct json *object, const char *key, uint64_t id)
{
	char digits[24];

	(void)text_format(digits, sizeof(digits), "%" PRIu64, id);
	json_set_text(object, key, digits);
}

void json_adopt(struct json *object, const char *key, struct json **value)
{
	set_new(object, key, as_library(*value));
	*value = NULL;
}

void json_append_adopt(struct json *array, struct json **value)
{
	int status = json_array_append_new(as_library(array), as_library(*value));

	REQUIRE(status == 0);
	*value = NULL;
}

void json_append_text(struct json *array, const char *text)
{
	int status = json_array_append_new(as_library(array), create_clean_string(text));

	REQUIRE(status == 0);
}
