#include "common/order/event_message.h"

#include <assert.h>
#include <string.h>

#include "common/io/json.h"
#include "common/order/compensation.h"

/* As many blanks as there may be in the worst of documents, an array of digits. */
static_assert(EVENT_MESSAGE_MAX + EVENT_MESSAGE_MAX / 2 < COMPENSATION_PAYLOAD_MAX,
	"an event fits into a task");

static enum result read_key(
	const struct json *root, const char *name, char key[], size_t key_size, struct error *error)
{
	const char *text = json_get_text(root, name);

	if (text == NULL)
		return error_set(RESULT_PERMANENT, error, "%s is missing or no text", name);
	if (!text_is_key(text, strlen(text), key_size - 1))
		return error_set(RESULT_PERMANENT, error, "%s is not 1 to %zu of [A-Za-z0-9._:-]",
			name, key_size - 1);
	(void)text_copy(key, key_size, text);
	return RESULT_OK;
}

static enum result read_root(
	const struct json *root, struct event_message *message, struct error *error)
{
	const char *version = json_get_text(root, "specversion");

	if (!json_is_object(root))
		return error_set(RESULT_PERMANENT, error, "is no JSON object");
	if (version == NULL || !text_equals(version, "1.0"))
		return error_set(RESULT_PERMANENT, error, "specversion is not 1.0");
	enum result result =
		read_key(root, "id", message->event_id, sizeof(message->event_id), error);
	if (result == RESULT_OK)
		result = read_key(root, "type", message->type, sizeof(message->type), error);
	if (result == RESULT_OK)
		result = read_key(
			root, "subject", message->order_no, sizeof(message->order_no), error);
	return result;
}

enum result event_message_parse(const uint8_t *body, size_t body_size,
	struct event_message *message_out, struct error *error)
{
	struct json *root = NULL;

	if (body_size == 0)
		return error_set(RESULT_PERMANENT, error, "event: body is empty");
	if (body_size > EVENT_MESSAGE_MAX)
		return error_set(RESULT_PERMANENT, error, "event: body is longer than %d bytes",
			(int)EVENT_MESSAGE_MAX);
	enum result result = json_parse(body, body_size, EVENT_MESSAGE_MAX, &root, error);
	if (result == RESULT_OK)
		result = read_root(root, message_out, error);
	json_destroy(&root);
	return error_context(result, error, "event");
}
