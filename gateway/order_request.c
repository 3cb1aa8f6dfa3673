#include "gateway/order_request.h"

#include <string.h>

#include "common/base/text.h"
#include "common/base/ulid.h"
#include "common/io/json.h"

enum {
	BODY_MAX = 65536,
	QUANTITY_MAX = 1000000,
};

#define AMOUNT_MAX     INT64_C(9007199254740991) /* what every JSON reader can hold exactly */
#define TIMEOUT_MAX_MS (UINT64_C(3650) * 86400000)

static enum result read_key(
	const struct json *object, const char *name, char *target, struct error *error)
{
	const char *text = json_get_text(object, name);

	if (text == NULL || !text_is_key(text, strlen(text), TEXT_KEY_MAX))
		return error_set(RESULT_PERMANENT, error,
			"%s must be 1 to %d characters of A-Z a-z 0-9 . _ : -", name,
			(int)TEXT_KEY_MAX);
	(void)text_copy(target, TEXT_KEY_SIZE, text);
	return RESULT_OK;
}

/* 64-bit ids are strings; a plain number is taken, too. */
static enum result read_user(
	const struct json *root, struct creation *creation, struct error *error)
{
	const char *text = json_get_text(root, "user_id");
	int64_t number = 0;

	if (text != NULL && text_parse_uint(text, 0, UINT64_MAX, &creation->user_id))
		return RESULT_OK;
	if (text == NULL && json_get_int(root, "user_id", &number) && number >= 0) {
		creation->user_id = (uint64_t)number;
		return RESULT_OK;
	}
	return error_set(RESULT_PERMANENT, error, "user_id must be a whole number");
}

static bool is_currency(const char *text)
{
	return strlen(text) == 3 && strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == 3;
}

static enum result read_money(
	const struct json *root, struct creation *creation, struct error *error)
{
	const char *currency = json_get_text(root, "currency");

	if (!json_get_int(root, "amount_cents", &creation->amount_cents) ||
		creation->amount_cents < 0 || creation->amount_cents > AMOUNT_MAX)
		return error_set(RESULT_PERMANENT, error,
			"amount_cents must be a whole number of cents, 0 or more");
	if (json_get(root, "currency") == NULL)
		currency = "CNY";
	if (currency == NULL || !is_currency(currency))
		return error_set(RESULT_PERMANENT, error, "currency must be three capital letters");
	(void)text_copy(creation->currency, sizeof(creation->currency), currency);
	return RESULT_OK;
}

static enum result read_item(
	const struct json *value, struct creation_item *item, struct error *error)
{
	int64_t quantity = 0;

	if (!json_is_object(value))
		return error_set(RESULT_PERMANENT, error, "an item must be an object");
	if (!json_get_int(value, "quantity", &quantity) || quantity < 0 || quantity > QUANTITY_MAX)
		return error_set(
			RESULT_PERMANENT, error, "quantity must be 0 to %d", (int)QUANTITY_MAX);
	item->quantity = (uint32_t)quantity;
	return read_key(value, "sku_id", item->sku_id, error);
}

static enum result read_items(
	const struct json *root, struct creation *creation, struct error *error)
{
	const struct json *items = json_get(root, "items");
	enum result result = RESULT_OK;

	if (items != NULL && !json_is_array(items))
		return error_set(RESULT_PERMANENT, error, "items must be a list");
	creation->item_count = items == NULL ? 0 : json_count(items);
	if (creation->item_count > CREATION_ITEM_MAX) {
		creation->item_count = 0;
		return error_set(RESULT_PERMANENT, error, "items must be a list of at most %d",
			(int)CREATION_ITEM_MAX);
	}
	for (size_t i = 0; i < creation->item_count && result == RESULT_OK; i++)
		result = read_item(json_at(items, i), &creation->items[i], error);
	return result;
}

/* "30m"; an empty or 0 timeout means never, not at once. */
static enum result read_timeout(
	const struct json *root, struct creation *creation, struct error *error)
{
	const char *text = json_get_text(root, "timeout");

	creation->has_timeout = false;
	if (text != NULL && (text[0] == '\0' || text_equals(text, "0")))
		return RESULT_OK;
	if (text == NULL || !text_parse_duration(text, &creation->timeout_ms) ||
		creation->timeout_ms > TIMEOUT_MAX_MS)
		return error_set(RESULT_PERMANENT, error,
			"timeout must be a duration like 30m, or empty for never");
	creation->has_timeout = creation->timeout_ms > 0;
	return RESULT_OK;
}

static enum result read_attributes(
	const struct json *root, struct rule_attributes *attributes, struct error *error)
{
	const struct json *given = json_get(root, "attributes");

	if (given != NULL && !json_is_object(given))
		return error_set(RESULT_PERMANENT, error, "attributes must be an object");
	for (size_t i = 0; given != NULL && i < RULE_ATTRIBUTE_COUNT; i++) {
		const char *name = rule_attribute_names[i];
		const char *value = json_get_text(given, name);

		if (json_get(given, name) == NULL)
			continue;
		if (value == NULL || !text_copy(attributes->values[i], RULE_ATTRIBUTE_SIZE, value))
			return error_set(RESULT_PERMANENT, error,
				"attributes: %s must be a text of at most 64 characters", name);
	}
	return RESULT_OK;
}

static enum result read_root(
	const struct json *root, struct order_request *request, struct error *error)
{
	struct creation *creation = &request->creation;
	enum result result = RESULT_OK;

	if (!json_is_object(root))
		return error_set(RESULT_PERMANENT, error, "the body must be a JSON object");
	if (json_get(root, "order_no") == NULL)
		ulid_generate(creation->order_no);
	else
		result = read_key(root, "order_no", creation->order_no, error);
	if (result == RESULT_OK)
		result = read_user(root, creation, error);
	if (result == RESULT_OK)
		result = read_money(root, creation, error);
	if (result == RESULT_OK)
		result = read_items(root, creation, error);
	if (result == RESULT_OK)
		result = read_attributes(root, &request->attributes, error);
	request->has_own_timeout = json_get(root, "timeout") != NULL;
	if (result == RESULT_OK && request->has_own_timeout)
		result = read_timeout(root, creation, error);
	return result;
}

enum result order_request_read(
	const char *body, size_t body_size, struct order_request *request_out, struct error *error)
{
	struct json *root = NULL;
	enum result result = json_parse(body, body_size, BODY_MAX, &root, error);

	memset(request_out, 0, sizeof(*request_out));
	if (result == RESULT_OK)
		result = read_root(root, request_out, error);
	json_destroy(&root);
	return result;
}

/* Version, trace id, parent id and flags, each in lower-case digits, the ids not all zero. */
static bool is_trace_parent(const char *text)
{
	static const size_t sizes[] = { 2, 32, 16, 2 };
	static const char digits[] = "0123456789abcdef";

	if (strlen(text) != 55 || text_starts_with(text, "ff"))
		return false;
	for (size_t i = 0; i < ARRAY_LENGTH(sizes); i++) {
		if (strspn(text, digits) != sizes[i] ||
			(i > 0 && i < 3 && strspn(text, "0") == sizes[i]))
			return false;
		text += sizes[i];
		if (*text == '-')
			text++;
	}
	return true;
}

void order_request_set_trace(struct order_request *request, const char *trace_parent)
{
	if (trace_parent != NULL && is_trace_parent(trace_parent))
		(void)text_copy(request->creation.trace_parent,
			sizeof(request->creation.trace_parent), trace_parent);
}
