#include "tests/support/openapi.h"

#include <stdlib.h>
#include <string.h>

#include <check.h>

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/io/json.h"
#include "tests/support/api_client.h"
#include "tests/support/outline.h"

enum {
	SEEN_MAX = 128,
	WORD_SIZE = 128,
	NAME_SIZE = 64,
	WORK_MAX = 1024
};

struct openapi {
	struct outline *root;
	const struct outline *seen[SEEN_MAX]; /* descriptions of a status */
	size_t seen_count;
};

void openapi_open(const char *path, struct openapi **openapi_out)
{
	struct openapi *openapi = memory_allocate(sizeof(*openapi));

	*openapi_out = openapi;
	outline_read(path, &openapi->root);
	ck_assert(text_starts_with(outline_text(openapi->root, "openapi"), "3.1."));
}

void openapi_close(struct openapi **openapi)
{
	if (*openapi == NULL)
		return;
	outline_destroy(&(*openapi)->root);
	free(*openapi);
	*openapi = NULL;
}

const struct outline *openapi_root(const struct openapi *openapi)
{
	return openapi->root;
}

const struct outline *openapi_resolve(const struct openapi *openapi, const struct outline *node)
{
	const char *reference = outline_text(node, "$ref");
	char part[NAME_SIZE];

	if (reference[0] == '\0')
		return node;
	ck_assert_msg(text_starts_with(reference, "#/"), "%s", reference);
	node = openapi->root;
	for (const char *place = reference + 2; *place != '\0';) {
		size_t size = strcspn(place, "/");

		(void)text_format(part, sizeof(part), "%.*s", (int)size, place);
		node = outline_find(node, part);
		place += size + (place[size] == '/' ? 1 : 0);
	}
	ck_assert_msg(node != NULL, "%s leads nowhere", reference);
	return node;
}

static bool has_type(const struct outline *schema, const char *type)
{
	const struct outline *types = outline_find(schema, "type");

	return text_equals(outline_text(schema, "type"), type) || outline_has_item(types, type);
}

/* Objects that are still to be looked at, each with its schema. */
struct work {
	struct {
		const struct outline *schema;
		const struct json *object;
	} open[WORK_MAX];
	size_t count;
};

static void add_work(struct work *work, const struct outline *schema, const struct json *object)
{
	ck_assert_uint_lt(work->count, WORK_MAX);
	work->open[work->count].schema = schema;
	work->open[work->count].object = object;
	work->count++;
}

static void add_list(const struct openapi *openapi, struct work *work, const struct outline *schema,
	const struct json *list)
{
	const struct outline *items = openapi_resolve(openapi, outline_find(schema, "items"));

	ck_assert(has_type(schema, "array"));
	for (size_t i = 0; i < json_count(list); i++)
		add_work(work, items, json_at(list, i));
}

static void check_text(const struct outline *schema, const char *name, const char *text)
{
	const struct outline *words = outline_find(schema, "enum");

	ck_assert_msg(has_type(schema, "string"), "%s is a text", name);
	ck_assert_msg(words == NULL || outline_has_item(words, text), "%s: %s is no word of it",
		name, text);
}

/* A value that is there. */
static void check_member(const struct openapi *openapi, struct work *work,
	const struct outline *schema, const struct json *object, const char *name)
{
	const struct json *value = json_get(object, name);
	int64_t number = 0;

	if (json_is_object(value))
		add_work(work, schema, value);
	else if (json_is_array(value))
		add_list(openapi, work, schema, value);
	else if (json_get_text(object, name) != NULL)
		check_text(schema, name, json_get_text(object, name));
	else if (json_get_int(object, name, &number))
		ck_assert_msg(has_type(schema, "integer"), "%s is a whole number", name);
	else
		ck_assert_msg(has_type(schema, "boolean") || has_type(schema, "null"),
			"%s is of another type", name);
}

static void expect_described(const struct outline *properties, const char *name, size_t size)
{
	char copy[NAME_SIZE];

	(void)text_format(copy, sizeof(copy), "%.*s", (int)size, name);
	ck_assert_msg(outline_find(properties, copy) != NULL, "%s is not described", copy);
}

/* Compact JSON: a text with a colon behind it, in the outermost braces, is the name of a member. */
static void expect_no_other_members(const struct outline *properties, const struct json *object)
{
	char *text = json_write(object);
	int depth = 0;

	for (const char *place = text; *place != '\0'; place++) {
		const char *end = place;

		depth += *place == '{' || *place == '[' ? 1 : 0;
		depth -= *place == '}' || *place == ']' ? 1 : 0;
		if (*place != '"')
			continue;
		for (end++; *end != '"'; end++)
			end += *end == '\\' ? 1 : 0;
		if (depth == 1 && end[1] == ':')
			expect_described(properties, place + 1, (size_t)(end - place - 1));
		place = end;
	}
	free(text);
}

static void check_object(const struct openapi *openapi, struct work *work,
	const struct outline *schema, const struct json *object)
{
	const struct outline *properties = outline_find(schema, "properties");
	const struct outline *required = outline_find(schema, "required");

	ck_assert(json_is_object(object) && has_type(schema, "object"));
	for (const struct outline *name = required == NULL ? NULL : required->first; name != NULL;
		name = name->next)
		ck_assert_msg(json_get(object, name->value) != NULL, "%s is missing", name->value);
	for (const struct outline *property = properties->first; property != NULL;
		property = property->next)
		if (json_get(object, property->key) != NULL)
			check_member(openapi, work, openapi_resolve(openapi, property), object,
				property->key);
	expect_no_other_members(properties, object);
}

static void check_document(
	const struct openapi *openapi, const struct outline *schema, const char *text)
{
	struct work work = { .count = 0 };
	struct json *root = NULL;
	struct error error = { .text = "" };

	ck_assert_int_eq(
		json_parse(text, strlen(text), API_CLIENT_BODY_SIZE, &root, &error), RESULT_OK);
	add_work(&work, schema, root);
	while (work.count > 0) {
		work.count--;
		check_object(
			openapi, &work, work.open[work.count].schema, work.open[work.count].object);
	}
	json_destroy(&root);
}

void openapi_check_document(
	const struct openapi *openapi, const char *schema_name, const char *text)
{
	const struct outline *schemas =
		outline_find(outline_find(openapi->root, "components"), "schemas");

	check_document(openapi, outline_find(schemas, schema_name), text);
}

static void check_headers(const struct outline *description, const struct api_answer *answer)
{
	const struct outline *headers = outline_find(description, "headers");
	char value[WORD_SIZE];

	ck_assert(headers != NULL);
	for (const struct outline *header = headers->first; header != NULL; header = header->next)
		ck_assert_msg(api_client_header(answer, header->key, value, sizeof(value)),
			"%u has no %s", answer->status, header->key);
}

static void check_content(const struct openapi *openapi, const struct outline *description,
	const struct api_answer *answer)
{
	char type[WORD_SIZE] = "";

	ck_assert(api_client_header(answer, "Content-Type", type, sizeof(type)));
	const struct outline *content = outline_find(outline_find(description, "content"), type);
	ck_assert_msg(content != NULL, "%u: %s is not described", answer->status, type);
	check_document(
		openapi, openapi_resolve(openapi, outline_find(content, "schema")), answer->body);
}

void openapi_check(struct openapi *openapi, const char *method, const char *path,
	const struct api_answer *answer)
{
	char status[16];

	(void)text_format(status, sizeof(status), "%u", answer->status);
	const struct outline *operation =
		outline_find(outline_find(outline_find(openapi->root, "paths"), path), method);
	const struct outline *entry = outline_find(outline_find(operation, "responses"), status);
	ck_assert_msg(entry != NULL, "%s %s: %s is not described: %s", method, path, status,
		answer->body);
	const struct outline *description = openapi_resolve(openapi, entry);
	check_headers(description, answer);
	check_content(openapi, description, answer);
	ck_assert_uint_lt(openapi->seen_count, SEEN_MAX);
	openapi->seen[openapi->seen_count++] = entry;
}

static bool is_seen(const struct openapi *openapi, const struct outline *entry)
{
	for (size_t i = 0; i < openapi->seen_count; i++)
		if (openapi->seen[i] == entry)
			return true;
	return false;
}

static void expect_operation_seen(const struct openapi *openapi, const struct outline *operation)
{
	const struct outline *responses = outline_find(operation, "responses");

	for (const struct outline *entry = responses == NULL ? NULL : responses->first;
		entry != NULL; entry = entry->next)
		ck_assert_msg(is_seen(openapi, entry), "%s: no answer was %s",
			outline_text(operation, "operationId"), entry->key);
}

void openapi_expect_all_seen(const struct openapi *openapi)
{
	const struct outline *paths = outline_find(openapi->root, "paths");

	for (const struct outline *path = paths->first; path != NULL; path = path->next)
		for (const struct outline *operation = path->first; operation != NULL;
			operation = operation->next)
			expect_operation_seen(openapi, operation);
}
