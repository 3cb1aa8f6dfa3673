#include "producer/envelope.h"

#include <string.h>

#include "common/base/text.h"
#include "common/io/json.h"
#include "common/order/event_type.h"

enum {
	TYPE_SIZE = 80,
	SOURCE_SIZE = 96
};

const char *envelope_routing_key(const char *event_type)
{
	const struct event_type *type = event_type_find(event_type);

	return type == NULL ? NULL : type->routing_key;
}

static void set_if_present(struct json *data, const char *key, const char *text)
{
	if (text[0] != '\0')
		json_set_text(data, key, text);
}

/* What the order row says; nothing about the buyer. */
static void describe_order(struct json *data, const struct order_detail *order)
{
	json_set_int(data, "amount_cents", order->amount_cents);
	json_set_text(data, "currency", order->currency);
	set_if_present(data, "reason", order->close_reason);
	set_if_present(data, "source", order->close_source);
	set_if_present(data, "expire_time", order->expire_time);
	set_if_present(data, "pay_time", order->pay_time);
	set_if_present(data, "close_time", order->close_time);
}

static enum result read_payload(
	const struct outbox_row *row, struct json **data_out, struct error *error)
{
	if (row->payload_size == 0) {
		*data_out = json_create_object();
		return RESULT_OK;
	}
	if (row->payload == NULL)
		return error_set(RESULT_PERMANENT, error, "the payload is longer than %d bytes",
			(int)OUTBOX_PAYLOAD_MAX);
	enum result result =
		json_parse(row->payload, row->payload_size, OUTBOX_PAYLOAD_MAX, data_out, error);
	if (result == RESULT_OK && !json_is_object(*data_out)) {
		json_destroy(data_out);
		result = error_set(RESULT_PERMANENT, error, "the payload is no JSON object");
	}
	return error_context(result, error, "payload");
}

enum result envelope_write_event(const struct outbox_row *row, const struct order_detail *order,
	const char *env_label, char **body_out, struct error *error)
{
	const struct event_type *type = event_type_find(row->event_type);
	struct json *data = NULL;
	char source[SOURCE_SIZE];

	if (type == NULL)
		return error_set(RESULT_PERMANENT, error, "unknown event type %s", row->event_type);
	enum result result = read_payload(row, &data, error);
	if (result != RESULT_OK)
		return result;
	struct json *root = json_create_object();
	json_set_text(root, "specversion", "1.0");
	json_set_text(root, "id", row->event_id);
	(void)text_format(source, sizeof(source), "/lapse/%.80s", env_label);
	json_set_text(root, "source", source);
	json_set_text(root, "type", type->version_type);
	json_set_text(root, "subject", row->order_no);
	json_set_text(root, "time", row->created_at);
	json_set_text(root, "datacontenttype", "application/json");
	set_if_present(root, "traceparent", row->trace_parent);
	json_set_text(data, "order_no", row->order_no);
	if (order->is_present && row->payload_size == 0)
		describe_order(data, order);
	json_adopt(root, "data", &data);
	*body_out = json_write(root);
	json_destroy(&root);
	return RESULT_OK;
}

void envelope_fill_event(
	const struct outbox_row *row, const char *exchange, struct broker_message *message)
{
	const struct event_type *type = event_type_find(row->event_type);

	REQUIRE(type != NULL);
	message->exchange = exchange;
	message->routing_key = type->routing_key;
	message->is_mandatory = false; /* nobody may be listening */
	message->type = type->version_type;
	message->content_type = "application/cloudevents+json";
	message->message_id = row->event_id;
	message->app_id = "lapse";
	message->timestamp_s = row->created_s;
	message->trace_parent = row->trace_parent[0] == '\0' ? NULL : row->trace_parent;
}
