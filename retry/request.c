#include "retry/request.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/text.h"
#include "common/io/json.h"

enum {
	CHANNEL_MAX = 32,
	CURRENCY_LENGTH = 3,
};

static const char content_type[] = "Content-Type: application/json";

const struct request_shape request_shapes[] = {
	[REQUEST_FORM_RESTORE] = { COMPENSATION_KIND_STOCK_RESTORE, "/v1/stock/restores" },
	[REQUEST_FORM_RESTORES] = { COMPENSATION_KIND_STOCK_RESTORE, "/v1/stock/restores" },
	[REQUEST_FORM_REFUND] = { COMPENSATION_KIND_REFUND, "/v1/refunds" },
	[REQUEST_FORM_WEBHOOK] = { COMPENSATION_KIND_WEBHOOK, "" },
};

static bool is_key(const char *text, size_t size_max)
{
	return text != NULL && text_is_key(text, strlen(text), size_max);
}

static bool is_currency(const char *text)
{
	return is_key(text, CURRENCY_LENGTH) && strlen(text) == CURRENCY_LENGTH;
}

static enum result refuse(struct error *error, const char *what)
{
	return error_set(RESULT_PERMANENT, error, "cannot be called: %s", what);
}

static enum result check_task(
	enum request_form form, const struct compensation_task *task, struct error *error)
{
	if (task->kind != request_shapes[form].kind)
		return refuse(error, "its kind does not fit its target");
	if (task->payload == NULL)
		return refuse(error, "its payload is too long");
	if (!is_key(task->idempotency_key, TEXT_IDEMPOTENCY_KEY_SIZE - 1))
		return refuse(error, "its idempotency key has forbidden characters");
	if (!is_key(task->order_no, TEXT_KEY_MAX))
		return refuse(error, "its order number has forbidden characters");
	return RESULT_OK;
}

static enum result fill_restore(const struct json *payload, struct json *item, struct error *error)
{
	const char *sku_id = json_get_text(payload, "sku_id");
	int64_t quantity = 0;

	if (!is_key(sku_id, TEXT_KEY_MAX))
		return refuse(error, "sku_id is missing or has forbidden characters");
	if (!json_get_int(payload, "quantity", &quantity) || quantity <= 0 || quantity > UINT32_MAX)
		return refuse(error, "quantity is no whole number above 0");
	json_set_text(item, "sku_id", sku_id);
	json_set_int(item, "quantity", quantity);
	return RESULT_OK;
}

static enum result fill_refund(const struct json *payload, struct json *item, struct error *error)
{
	const char *channel = json_get_text(payload, "channel");
	const char *trade_no = json_get_text(payload, "trade_no");
	const char *currency = json_get_text(payload, "currency");
	int64_t amount_cents = 0;

	if (!is_key(channel, CHANNEL_MAX) || !is_key(trade_no, TEXT_KEY_MAX))
		return refuse(error, "channel or trade_no is missing or has forbidden characters");
	if (!json_get_int(payload, "amount_cents", &amount_cents) || amount_cents <= 0)
		return refuse(error, "amount_cents is no whole number above 0");
	if (!is_currency(currency))
		return refuse(error, "currency is not three letters");
	json_set_text(item, "channel", channel);
	json_set_text(item, "trade_no", trade_no);
	json_set_int(item, "amount_cents", amount_cents);
	json_set_text(item, "currency", currency);
	return RESULT_OK;
}

enum result request_create_item(enum request_form form, const struct compensation_task *task,
	struct json **item_out, struct error *error)
{
	struct json *payload = NULL;
	struct json *item = NULL;
	enum result result = check_task(form, task, error);

	*item_out = NULL;
	if (result != RESULT_OK)
		return result;
	if (json_parse(task->payload, task->payload_size, COMPENSATION_PAYLOAD_MAX, &payload,
		    error) != RESULT_OK)
		return error_context(RESULT_PERMANENT, error, "cannot be called: payload");
	item = json_create_object();
	json_set_text(item, "idempotency_key", task->idempotency_key);
	json_set_text(item, "order_no", task->order_no);
	if (task->kind == COMPENSATION_KIND_REFUND)
		result = fill_refund(payload, item, error);
	else
		result = fill_restore(payload, item, error);
	json_destroy(&payload);
	if (result == RESULT_OK)
		*item_out = item;
	else
		json_destroy(&item);
	return result;
}

uint64_t request_hash_subject(const struct json *item)
{
	const char *subject = json_get_text(item, "sku_id");

	return text_hash(TEXT_HASH_START,
		subject == NULL ? json_get_text(item, "idempotency_key") : subject);
}

static void write_body(struct json **root, struct request *request)
{
	request->body = json_write(*root);
	request->body_size = strlen(request->body);
	json_destroy(root);
}

/* The keys of many tasks stand in the body only. */
static void write_many(struct json **items, size_t count, struct request *request)
{
	struct json *root = json_create_object();
	struct json *list = json_create_array();

	for (size_t i = 0; i < count; i++)
		json_append_adopt(list, &items[i]);
	json_adopt(root, "restores", &list);
	write_body(&root, request);
}

void request_create(enum request_form form, const char *base_url, struct json **items_adopt,
	size_t count, struct request *request_out)
{
	size_t length = strlen(base_url);
	size_t header_count = 0;

	memset(request_out, 0, sizeof(*request_out));
	while (length > 0 && base_url[length - 1] == '/')
		length--;
	(void)text_format(request_out->url, sizeof(request_out->url), "%.*s%s", (int)length,
		base_url, request_shapes[form].path);
	request_out->headers[header_count++] = content_type;
	if (form == REQUEST_FORM_RESTORES) {
		write_many(items_adopt, count, request_out);
		return;
	}
	REQUIRE(count == 1);
	(void)text_format(request_out->lines[0], sizeof(request_out->lines[0]),
		"Idempotency-Key: %s", json_get_text(items_adopt[0], "idempotency_key"));
	request_out->headers[header_count] = request_out->lines[0];
	write_body(&items_adopt[0], request_out);
}

void request_clear(struct request *request)
{
	free(request->body);
	memset(request, 0, sizeof(*request));
}
