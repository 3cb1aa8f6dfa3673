#include "demo/shop/reservation_message.h"

#include "common/io/json.h"

enum {
	BODY_MAX = 65536,
	CODE_OK = 0,
	CODE_SHORT = 1,
	CODE_UNKNOWN_SKU = 2,
	CODE_MISSING = -1,
};

static const char *const key_heads[] = { "reserve", "release" };
static const char *const list_names[] = { "reserves", "restores" };
static const char *const paths[] = { "/v1/stock/reserves", "/v1/stock/restores" };

const char *reservation_message_path(enum reservation_kind kind)
{
	return paths[kind];
}

static void write_key(enum reservation_kind kind, const struct plan_order *order, size_t line,
	char key[TEXT_IDEMPOTENCY_KEY_SIZE])
{
	(void)text_format(key, TEXT_IDEMPOTENCY_KEY_SIZE, "%s:%s:%zu", key_heads[kind],
		order->order_no, line + 1);
}

char *reservation_message_write(enum reservation_kind kind, const struct plan_order *order,
	const struct reservation_lines *lines)
{
	struct json *root = json_create_object();
	struct json *list = json_create_array();
	char key[TEXT_IDEMPOTENCY_KEY_SIZE];

	for (size_t i = 0; i < order->item_count; i++) {
		if (kind == RESERVATION_KIND_RELEASE && !lines->is_taken[i])
			continue;
		struct json *entry = json_create_object();

		write_key(kind, order, i, key);
		json_set_text(entry, "idempotency_key", key);
		json_set_text(entry, "order_no", order->order_no);
		json_set_text(entry, "sku_id", order->items[i].sku_id);
		json_set_int(entry, "quantity", order->items[i].quantity);
		json_append_adopt(list, &entry);
	}
	json_adopt(root, list_names[kind], &list);
	char *body = json_write(root);
	json_destroy(&root);
	return body;
}

static int64_t find_code(const struct json *results, const char *key)
{
	int64_t code = CODE_MISSING;

	for (size_t i = 0; i < json_count(results); i++) {
		const struct json *entry = json_at(results, i);
		const char *found = json_get_text(entry, "idempotency_key");

		if (found != NULL && text_equals(found, key) && json_get_int(entry, "code", &code))
			return code;
	}
	return CODE_MISSING;
}

static bool read_results(enum reservation_kind kind, const struct plan_order *order,
	const struct json *results, struct reservation_lines *lines)
{
	char key[TEXT_IDEMPOTENCY_KEY_SIZE];

	for (size_t i = 0; i < order->item_count; i++) {
		if (kind == RESERVATION_KIND_RELEASE && !lines->is_taken[i])
			continue;
		write_key(kind, order, i, key);
		int64_t code = find_code(results, key);
		bool is_refused = code == CODE_SHORT || code == CODE_UNKNOWN_SKU;

		if (code != CODE_OK && (!is_refused || kind == RESERVATION_KIND_RELEASE))
			return false;
		lines->is_taken[i] = code == CODE_OK;
	}
	return true;
}

bool reservation_message_read(enum reservation_kind kind, const struct plan_order *order,
	const char *body, size_t body_size, struct reservation_lines *lines_out)
{
	struct json *root = NULL;
	int64_t code = CODE_MISSING;

	if (json_parse(body, body_size, BODY_MAX, &root, NULL) != RESULT_OK)
		return false;
	bool is_good = json_get_int(root, "code", &code) && code == CODE_OK &&
		       read_results(kind, order, json_get(root, "results"), lines_out);
	json_destroy(&root);
	return is_good;
}
