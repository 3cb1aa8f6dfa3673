#include "common/order/subscriber.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/base/settings.h"
#include "common/base/text.h"
#include "common/io/http.h"
#include "common/io/signature.h"
#include "common/order/event_type.h"

enum {
	LINE_SIZE = 4096,
	WORD_MAX = 5,
	WORD_MIN = 4,
};

static_assert(EVENT_TYPE_COUNT <= 32, "each type has its bit");

/* Targets of other kinds of tasks. */
static const char *const taken_names[] = { "stock", "refund" };

static const char blanks[] = " \t\r";

static void clear_text(char **text)
{
	if (*text != NULL)
		memory_wipe(*text, strlen(*text));
	free(*text);
	*text = NULL;
}

void subscriber_list_clear(struct subscriber_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		clear_text(&list->items[i].url);
		clear_text(&list->items[i].secret);
	}
	memset(list, 0, sizeof(*list));
}

static enum result refuse(struct error *error, const char *words, const char *value)
{
	return error_set(RESULT_PERMANENT, error, "\"%.60s\" %s", value, words);
}

static bool is_name(const char *name)
{
	size_t size = strlen(name);

	/* Without a colon the name in front of an event id in a key can be told from it. */
	if (!text_is_key(name, size, SUBSCRIBER_NAME_SIZE - 1) || strchr(name, ':') != NULL)
		return false;
	for (size_t i = 0; i < ARRAY_LENGTH(taken_names); i++)
		if (text_equals(name, taken_names[i]))
			return false;
	return true;
}

static enum result read_types(char *word, struct subscriber *subscriber, struct error *error)
{
	if (text_equals(word, "*")) {
		subscriber->wants_all = true;
		return RESULT_OK;
	}
	while (word != NULL) {
		char *comma = strchr(word, ',');

		if (comma != NULL)
			*comma = '\0';
		const struct event_type *type = event_type_find(word);
		if (type == NULL)
			return refuse(error, "is no event type", word);
		subscriber->types |= UINT32_C(1) << (type - event_types);
		word = comma == NULL ? NULL : comma + 1;
	}
	return RESULT_OK;
}

/* Secrets are not quoted: a message ends up in a log. */
static enum result read_secret(
	char *const *words, size_t count, struct subscriber *subscriber, struct error *error)
{
	for (size_t i = 0; i < count; i++)
		if (!signature_is_webhook_secret(words[i]))
			return error_set(RESULT_PERMANENT, error,
				"the %ssecret is not whsec_<base64>", i == 0 ? "" : "old ");
	if (count == 1) {
		subscriber->secret = memory_copy_text(words[0]);
		return RESULT_OK;
	}
	size_t size = strlen(words[0]) + strlen(words[1]) + 2;
	subscriber->secret = memory_allocate(size);
	(void)text_format(subscriber->secret, size, "%s %s", words[0], words[1]);
	return RESULT_OK;
}

static enum result read_words(
	char *const *words, size_t count, struct subscriber *subscriber, struct error *error)
{
	if (count < WORD_MIN || count > WORD_MAX)
		return error_set(RESULT_PERMANENT, error,
			"is not: name, events, address, secret and perhaps the old secret");
	if (!is_name(words[0]))
		return refuse(error, "is no name, or one that is taken", words[0]);
	(void)text_copy(subscriber->name, sizeof(subscriber->name), words[0]);
	enum result result = read_types(words[1], subscriber, error);
	if (result != RESULT_OK)
		return result;
	if (!http_is_url(words[2]))
		return error_set(
			RESULT_PERMANENT, error, "the address is no http:// or https:// address");
	subscriber->url = memory_copy_text(words[2]);
	return read_secret(words + 3, count - 3, subscriber, error);
}

/* How many words there are, however many more than WORD_MAX. */
static size_t split_words(char *line, char *words[WORD_MAX])
{
	size_t count = 0;

	line += strspn(line, blanks);
	while (*line != '\0' && *line != '#') {
		size_t size = strcspn(line, blanks);

		if (count < WORD_MAX)
			words[count] = line;
		count++;
		line += size;
		if (*line != '\0')
			*line++ = '\0';
		line += strspn(line, blanks);
	}
	return count;
}

static enum result read_line(char *line, struct subscriber_list *list, struct error *error)
{
	char *words[WORD_MAX] = { NULL };
	size_t count = split_words(line, words);

	if (count == 0)
		return RESULT_OK;
	if (list->count == SUBSCRIBER_MAX)
		return error_set(
			RESULT_PERMANENT, error, "more than %d subscribers", (int)SUBSCRIBER_MAX);
	if (subscriber_find(list, words[0]) != NULL)
		return refuse(error, "comes twice", words[0]);
	/* Counted first, so that clearing the list frees what has been read of it. */
	return read_words(words, count, &list->items[list->count++], error);
}

static int compare_names(const void *left, const void *right)
{
	const struct subscriber *one = left;
	const struct subscriber *other = right;

	return strcmp(one->name, other->name);
}

/* false: it does not fit, or is no text. */
static bool copy_line(char line[LINE_SIZE], const char *text, size_t size)
{
	if (size >= LINE_SIZE || memchr(text, '\0', size) != NULL)
		return false;
	memcpy(line, text, size);
	line[size] = '\0';
	return true;
}

static enum result parse_lines(
	const char *text, size_t size, struct subscriber_list *list, struct error *error)
{
	const char *end = text + size;
	char line[LINE_SIZE] = "";
	unsigned int number = 0;
	enum result result = RESULT_OK;

	while (text < end && result == RESULT_OK) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		const char *line_end = newline == NULL ? end : newline;

		number++;
		if (copy_line(line, text, (size_t)(line_end - text)))
			result = read_line(line, list, error);
		else
			result = error_set(
				RESULT_PERMANENT, error, "is too long, or holds a zero byte");
		text = newline == NULL ? end : newline + 1;
	}
	memory_wipe(line, sizeof(line));
	return error_context(result, error, "line %u", number);
}

enum result subscriber_list_parse(
	const char *text, size_t size, struct subscriber_list *list_out, struct error *error)
{
	memset(list_out, 0, sizeof(*list_out));
	enum result result = parse_lines(text, size, list_out, error);

	if (result != RESULT_OK) {
		subscriber_list_clear(list_out);
		return result;
	}
	qsort(list_out->items, list_out->count, sizeof(list_out->items[0]), compare_names);
	list_out->is_loaded = true;
	return RESULT_OK;
}

enum result subscriber_list_read(
	const char *path, struct subscriber_list *list_out, struct error *error)
{
	char *text = NULL;
	size_t size = 0;
	enum result result = RESULT_OK;

	memset(list_out, 0, sizeof(*list_out));
	FILE *file = fopen(path, "re");
	if (file == NULL)
		return error_set(RESULT_NONE, error, "%s: %s", path, strerror(errno));
	text = memory_allocate(SUBSCRIBER_FILE_MAX + 1);
	size = fread(text, 1, SUBSCRIBER_FILE_MAX + 1, file);
	if (ferror(file) != 0)
		result = error_set(RESULT_NONE, error, "%s: cannot be read", path);
	else if (size > SUBSCRIBER_FILE_MAX)
		result = error_set(RESULT_PERMANENT, error, "is longer than %d bytes",
			(int)SUBSCRIBER_FILE_MAX);
	else
		result = subscriber_list_parse(text, size, list_out, error);
	(void)fclose(file);
	memory_wipe(text, size);
	free(text);
	return error_context(result, error, "%s", path);
}

enum result subscriber_list_reload(
	const char *path, struct subscriber_list *list, struct error *error)
{
	struct subscriber_list fresh = { .count = 0 };
	enum result result = subscriber_list_read(path, &fresh, error);

	if (result != RESULT_OK)
		return result; /* fresh is empty */
	subscriber_list_clear(list);
	*list = fresh;
	return RESULT_OK;
}

void subscriber_check_file(const char *path, struct settings_report *report)
{
	struct subscriber_list list = { .count = 0 };
	struct error error = { .text = "" };

	if (path != NULL && subscriber_list_read(path, &list, &error) == RESULT_PERMANENT)
		settings_report_add(report, "LAPSE_WEBHOOKS_FILE: %s", error.text);
	subscriber_list_clear(&list);
}

const struct subscriber *subscriber_find(const struct subscriber_list *list, const char *name)
{
	for (size_t i = 0; i < list->count; i++)
		if (text_equals(list->items[i].name, name))
			return &list->items[i];
	return NULL;
}

bool subscriber_wants(const struct subscriber *subscriber, const char *version_type)
{
	const struct event_type *type = event_type_find_version(version_type);

	if (subscriber->wants_all)
		return true;
	return type != NULL && (subscriber->types >> (type - event_types) & 1) != 0;
}
