#include "console/form.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/io/json.h"

struct field {
	char *name;
	char *value;
};

struct form {
	struct field fields[FORM_FIELD_MAX];
	size_t count;
	bool is_full; /* something had no place any more */
};

void form_create(struct form **form_out)
{
	*form_out = memory_allocate(sizeof(**form_out));
}

void form_destroy(struct form **form)
{
	if (*form == NULL)
		return;
	for (size_t i = 0; i < (*form)->count; i++) {
		free((*form)->fields[i].name);
		free((*form)->fields[i].value);
	}
	free(*form);
	*form = NULL;
}

void form_add(struct form *form, const char *name, const char *value)
{
	if (form->count == FORM_FIELD_MAX) {
		form->is_full = true;
		return;
	}
	form->fields[form->count].name = memory_copy_text(name);
	form->fields[form->count].value = memory_copy_text(value);
	form->count++;
}

static int digit_of(char digit)
{
	static const char digits[] = "0123456789abcdefABCDEF";
	const char *place = digit == '\0' ? NULL : strchr(digits, digit);
	int value = place == NULL ? -1 : (int)(place - digits);

	return value > 15 ? value - 6 : value;
}

/* In place; false: a percent sign without its digits, or a NUL byte. */
static bool decode(char *text)
{
	char *target = text;

	for (; *text != '\0'; text++) {
		if (*text == '+') {
			*target++ = ' ';
			continue;
		}
		if (*text != '%') {
			*target++ = *text;
			continue;
		}
		int high = digit_of(text[1]);
		int low = high < 0 ? -1 : digit_of(text[2]);
		if (low < 0 || high + low == 0)
			return false;
		*target++ = (char)(high * 16 + low);
		text += 2;
	}
	*target = '\0';
	return true;
}

static bool read_pair(struct form *form, const char *pair, size_t size)
{
	char *name = memory_copy_bytes(pair, size);
	char *value = strchr(name, '=');
	bool is_good = false;

	if (value != NULL) {
		*value++ = '\0';
		is_good = decode(name) && decode(value) && form->count < FORM_FIELD_MAX;
	}
	if (is_good)
		form_add(form, name, value);
	free(name);
	return is_good;
}

enum result form_read(const char *body, size_t size, struct form **form_out, struct error *error)
{
	struct form *form = NULL;

	*form_out = NULL;
	if (memchr(body, '\0', size) != NULL)
		return error_set(RESULT_PERMANENT, error, "the form holds a NUL byte");
	form_create(&form);
	for (const char *place = body; *place != '\0';) {
		size_t length = strcspn(place, "&");

		if (length > 0 && !read_pair(form, place, length)) {
			form_destroy(&form);
			return error_set(RESULT_PERMANENT, error,
				"the form cannot be read, or has more than %d fields",
				FORM_FIELD_MAX);
		}
		place += length + (place[length] == '&' ? 1 : 0);
	}
	*form_out = form;
	return RESULT_OK;
}

/* A text or a number; what is neither is left out. */
static void add_scalar(struct form *form, const char *name, const struct json *value)
{
	char number[24];
	int64_t whole = 0;

	if (json_as_text(value) != NULL) {
		form_add(form, name, json_as_text(value));
	} else if (json_as_int(value, &whole)) {
		(void)text_format(number, sizeof(number), "%" PRId64, whole);
		form_add(form, name, number);
	}
}

static void take_member(void *context, const char *name, const struct json *value)
{
	if (!json_is_array(value))
		add_scalar(context, name, value);
	for (size_t i = 0; json_is_array(value) && i < json_count(value); i++)
		add_scalar(context, name, json_at(value, i));
}

enum result form_read_json(
	const char *body, size_t size, struct form **form_out, struct error *error)
{
	struct json *root = NULL;

	*form_out = NULL;
	enum result result =
		json_parse(size == 0 ? "{}" : body, size == 0 ? 2 : size, size + 2, &root, error);
	if (result != RESULT_OK)
		return result;
	if (json_is_object(root)) {
		form_create(form_out);
		json_each(root, take_member, *form_out);
		if ((*form_out)->is_full) {
			form_destroy(form_out);
			result = error_set(RESULT_PERMANENT, error,
				"the body has more than %d fields", FORM_FIELD_MAX);
		}
	} else {
		result = error_set(RESULT_PERMANENT, error, "the body is no JSON object");
	}
	json_destroy(&root);
	return result;
}

const char *form_get_at(const struct form *form, const char *name, size_t place)
{
	for (size_t i = 0; form != NULL && i < form->count; i++) {
		if (!text_equals(form->fields[i].name, name))
			continue;
		if (place == 0)
			return form->fields[i].value;
		place--;
	}
	return NULL;
}

const char *form_get(const struct form *form, const char *name)
{
	return form_get_at(form, name, 0);
}

const char *form_text(const struct form *form, const char *name)
{
	const char *value = form_get(form, name);

	return value == NULL ? "" : value;
}

size_t form_count(const struct form *form)
{
	return form == NULL ? 0 : form->count;
}

const char *form_name_at(const struct form *form, size_t place)
{
	return form->fields[place].name;
}

const char *form_value_at(const struct form *form, size_t place)
{
	return form->fields[place].value;
}
