#include "console/bulk_selection.h"

#include <inttypes.h>
#include <string.h>

#include "common/base/moment.h"
#include "common/base/text.h"
#include "console/csrf.h"
#include "console/respond.h"
#include "console/settings.h"

/* No form is sent to a path with a question mark, so that no token of a form fits. */
static const char path[] = "/tasks/bulk";
static const char count_name[] = "count";
static const char since_name[] = "unchanged_since";

/* Of two such times the earlier one. */
static const char *earlier(const char *given, const char *ours)
{
	char one[MOMENT_SIZE];
	char other[MOMENT_SIZE];

	return moment_parse(given, one) && moment_parse(ours, other) && strcmp(one, other) <= 0
		       ? given
		       : ours;
}

/* What the person has given is never widened. */
static bool add_value(struct bulk_selection *selection, const char *name, const char *value)
{
	struct listing_request *request = &selection->list.request;

	for (size_t i = 0; i < request->value_count; i++) {
		struct listing_value *given = &selection->list.values[i];

		if (!text_equals(given->name, name))
			continue;
		given->value =
			text_equals(name, since_name) ? earlier(given->value, value) : given->value;
		return true;
	}
	if (request->value_count == LIST_VALUE_MAX)
		return false;
	selection->list.values[request->value_count++] = (struct listing_value){ name, value };
	return true;
}

bool bulk_selection_freeze(struct bulk_selection *selection)
{
	(void)text_format(selection->highest, sizeof(selection->highest), "%" PRIu64,
		selection->count.highest_id);
	return add_value(selection, "up_to", selection->highest) &&
	       add_value(selection, since_name, selection->count.at);
}

void bulk_selection_seal(
	const struct visit *visit, const struct bulk_selection *selection, struct buffer *text_out)
{
	struct buffer address = { .text = NULL };
	char token[CSRF_TOKEN_SIZE];
	char count[BULK_NUMBER_SIZE];

	(void)text_format(count, sizeof(count), "%" PRIu64, selection->count.count);
	list_add_address(path, &selection->list, &address);
	buffer_add_text(&address, "&count=");
	buffer_add_text(&address, count);
	csrf_make_token(token, visit->context->secret, visit->who.name, buffer_text(&address),
		csrf_hour_now());
	buffer_add_text(text_out, token);
	buffer_add_text(text_out, buffer_text(&address));
	buffer_clear(&address);
}

/* The token stands before the address. */
static bool is_ours(const struct visit *visit, const char *text, char words[CSRF_WORDS_SIZE])
{
	size_t size = strcspn(text, "/");
	char token[CSRF_TOKEN_SIZE];

	(void)text_copy(words, CSRF_WORDS_SIZE, "");
	if (size >= sizeof(token) || !text_starts_with(text + size, path))
		return false;
	memcpy(token, text, size);
	token[size] = '\0';
	return csrf_check_token(token, visit->context->secret, visit->who.name, text + size,
		csrf_hour_now(), words);
}

static bool read_fields(struct bulk_selection *selection, const char *text)
{
	const char *query = strchr(text, '?');
	struct error error = { .text = "" };
	struct listing_request *request = &selection->list.request;
	size_t count = 0;

	if (query == NULL ||
		form_read(query + 1, strlen(query + 1), &selection->fields, &error) != RESULT_OK)
		return false;
	request->values = selection->list.values;
	for (; count < form_count(selection->fields); count++) {
		const char *name = form_name_at(selection->fields, count);

		if (text_equals(name, count_name))
			continue;
		if (request->value_count == LIST_VALUE_MAX)
			return false;
		selection->list.values[request->value_count++] =
			(struct listing_value){ name, form_value_at(selection->fields, count) };
	}
	return text_parse_uint(
		form_text(selection->fields, count_name), 0, UINT32_MAX, &selection->count.count);
}

bool bulk_selection_open(
	struct visit *visit, const char *text, struct bulk_selection *selection_out)
{
	char words[CSRF_WORDS_SIZE];

	*selection_out = (struct bulk_selection){ .fields = NULL };
	if (is_ours(visit, text, words) && read_fields(selection_out, text))
		return true;
	bulk_selection_clear(selection_out);
	respond_problem(visit, 409,
		PHRASE("This preview is not good any more. Look at the selection again."), words);
	return false;
}

void bulk_selection_clear(struct bulk_selection *selection)
{
	form_destroy(&selection->fields);
}
