#include "common/order/timeout_message.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

#include "common/io/json.h"

static const char body_start[] = "{\"order_no\":\"";
static const char body_end[] = "\"}";

enum {
	START_SIZE = sizeof(body_start) - 1,
	END_SIZE = sizeof(body_end) - 1,
};

static_assert(START_SIZE + TEXT_KEY_MAX + END_SIZE < TIMEOUT_MESSAGE_SIZE, "any key fits");

size_t timeout_message_write(char body[TIMEOUT_MESSAGE_SIZE], const char *order_no)
{
	REQUIRE(text_is_key(order_no, strlen(order_no), TEXT_KEY_MAX));
	(void)text_format(body, TIMEOUT_MESSAGE_SIZE, "%s%s%s", body_start, order_no, body_end);
	return strlen(body);
}

static enum result refuse(struct error *error, const char *reason)
{
	return error_set(RESULT_PERMANENT, error, "%s", reason);
}

/* Exactly what timeout_message_write makes: a key needs no JSON parser, and there are many. */
static bool parse_own_form(const uint8_t *body, size_t body_size, char order_no_out[TEXT_KEY_SIZE])
{
	if (body_size <= START_SIZE + END_SIZE || memcmp(body, body_start, START_SIZE) != 0 ||
		memcmp(body + body_size - END_SIZE, body_end, END_SIZE) != 0)
		return false;
	size_t key_size = body_size - START_SIZE - END_SIZE;
	if (!text_is_key(body + START_SIZE, key_size, TEXT_KEY_MAX))
		return false;
	memcpy(order_no_out, body + START_SIZE, key_size);
	order_no_out[key_size] = '\0';
	return true;
}

static enum result read_order_no(
	const struct json *root, char order_no_out[TEXT_KEY_SIZE], struct error *error)
{
	if (!json_is_object(root))
		return refuse(error, "is no JSON object");
	if (json_get(root, "order_no") == NULL)
		return refuse(error, "has no order_no");
	const char *order_no = json_get_text(root, "order_no");
	if (order_no == NULL)
		return refuse(error, "order_no is no text");
	if (!text_is_key(order_no, strlen(order_no), TEXT_KEY_MAX))
		return refuse(error, "order_no is not 1 to 64 of [A-Za-z0-9._:-]");
	(void)text_copy(order_no_out, TEXT_KEY_SIZE, order_no);
	return RESULT_OK;
}

static enum result parse_json(const uint8_t *body, size_t body_size,
	char order_no_out[TEXT_KEY_SIZE], struct error *error)
{
	struct json *root = NULL;

	enum result result = json_parse(body, body_size, TIMEOUT_MESSAGE_MAX, &root, error);
	if (result == RESULT_OK)
		result = read_order_no(root, order_no_out, error);
	json_destroy(&root);
	return result;
}

enum result timeout_message_parse(const uint8_t *body, size_t body_size, const char *type,
	char order_no_out[TEXT_KEY_SIZE], struct error *error)
{
	if (type[0] != '\0' && !text_equals(type, TIMEOUT_MESSAGE_TYPE))
		return error_set(RESULT_PERMANENT, error, "type is not %s but %.80s",
			TIMEOUT_MESSAGE_TYPE, type);
	if (body_size == 0)
		return refuse(error, "body is empty");
	if (body_size > TIMEOUT_MESSAGE_MAX)
		return error_set(RESULT_PERMANENT, error, "body is longer than %d bytes",
			(int)TIMEOUT_MESSAGE_MAX);
	if (parse_own_form(body, body_size, order_no_out))
		return RESULT_OK;
	return error_context(parse_json(body, body_size, order_no_out, error), error, "body");
}
