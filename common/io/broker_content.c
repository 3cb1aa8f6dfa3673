#include "common/io/broker_content.h"

#include <string.h>

#include "common/base/text.h"

static const char delay_header[] = "x-delay";
static const char due_header[] = "x-due";
static const char trace_parent_header[] = "traceparent";
static const char reason_header[] = "x-lapse-reason";
static const char origin_header[] = "x-lapse-origin";
static const char delivery_count_header[] = "x-delivery-count";
static const char death_header[] = "x-death";

enum {
	PERSISTENT = 2
};

static void add_text(struct broker_content *content, const char *key, const char *text)
{
	amqp_table_t *headers = &content->properties.headers;
	amqp_table_entry_t *entry = &headers->entries[headers->num_entries++];

	entry->key = amqp_cstring_bytes(key);
	entry->value.kind = AMQP_FIELD_KIND_UTF8;
	entry->value.value.bytes = amqp_cstring_bytes(text);
}

/* Always a signed 64-bit integer: the delayed exchange misreads or refuses other kinds. */
static void add_number(struct broker_content *content, const char *key, int64_t number)
{
	amqp_table_t *headers = &content->properties.headers;
	amqp_table_entry_t *entry = &headers->entries[headers->num_entries++];

	entry->key = amqp_cstring_bytes(key);
	entry->value.kind = AMQP_FIELD_KIND_I64;
	entry->value.value.i64 = number;
}

static void set_text(amqp_basic_properties_t *properties, amqp_bytes_t *field, amqp_flags_t flag,
	const char *text)
{
	if (text == NULL)
		return;
	*field = amqp_cstring_bytes(text);
	properties->_flags |= flag;
}

void broker_content_fill(struct broker_content *content, const struct broker_message *message)
{
	amqp_basic_properties_t *properties = &content->properties;

	*properties = (amqp_basic_properties_t){
		._flags = AMQP_BASIC_DELIVERY_MODE_FLAG,
		.delivery_mode = PERSISTENT,
		.headers = { .entries = content->headers },
	};
	set_text(properties, &properties->type, AMQP_BASIC_TYPE_FLAG, message->type);
	set_text(properties, &properties->content_type, AMQP_BASIC_CONTENT_TYPE_FLAG,
		message->content_type);
	set_text(properties, &properties->message_id, AMQP_BASIC_MESSAGE_ID_FLAG,
		message->message_id);
	set_text(properties, &properties->app_id, AMQP_BASIC_APP_ID_FLAG, message->app_id);
	if (message->timestamp_s != 0) {
		properties->timestamp = message->timestamp_s;
		properties->_flags |= AMQP_BASIC_TIMESTAMP_FLAG;
	}
	if (message->trace_parent != NULL)
		add_text(content, trace_parent_header, message->trace_parent);
	if (message->has_delay)
		add_number(content, delay_header, message->delay_ms);
	if (message->has_due)
		add_number(content, due_header, message->due_ms);
	if (message->reason != NULL)
		add_text(content, reason_header, message->reason);
	if (message->origin != NULL)
		add_text(content, origin_header, message->origin);
	if (properties->headers.num_entries > 0)
		properties->_flags |= AMQP_BASIC_HEADERS_FLAG;
}

void broker_content_copy_text(char *target, size_t target_size, amqp_bytes_t bytes)
{
	(void)text_clip(target, target_size, bytes.bytes, bytes.len);
}

static bool has_key(const amqp_table_entry_t *entry, const char *key)
{
	return entry->key.len == strlen(key) && memcmp(entry->key.bytes, key, entry->key.len) == 0;
}

static bool is_text(const amqp_field_value_t *value)
{
	return value->kind == AMQP_FIELD_KIND_UTF8 || value->kind == AMQP_FIELD_KIND_BYTES;
}

static void read_text(const amqp_field_value_t *value, char *target, size_t target_size)
{
	if (is_text(value))
		broker_content_copy_text(target, target_size, value->value.bytes);
}

/* A number of any integer kind: clients differ in what they send.  False for everything else. */
static bool read_number(const amqp_field_value_t *value, int64_t *number_out)
{
	switch (value->kind) {
	case AMQP_FIELD_KIND_I8:
		/* Negative stays negative. */
		/* NOLINTNEXTLINE(bugprone-signed-char-misuse,cert-str34-c) */
		*number_out = value->value.i8;
		return true;
	case AMQP_FIELD_KIND_U8:
		*number_out = value->value.u8;
		return true;
	case AMQP_FIELD_KIND_I16:
		*number_out = value->value.i16;
		return true;
	case AMQP_FIELD_KIND_U16:
		*number_out = value->value.u16;
		return true;
	case AMQP_FIELD_KIND_I32:
		*number_out = value->value.i32;
		return true;
	case AMQP_FIELD_KIND_U32:
		*number_out = value->value.u32;
		return true;
	case AMQP_FIELD_KIND_I64:
		*number_out = value->value.i64;
		return true;
	case AMQP_FIELD_KIND_U64:
	case AMQP_FIELD_KIND_TIMESTAMP:
		if (value->value.u64 > INT64_MAX)
			return false;
		*number_out = (int64_t)value->value.u64;
		return true;
	default:
		return false;
	}
}

/* The first entry of x-death is the latest death: why, in which queue, and when. */
static void read_death(const amqp_field_value_t *value, struct broker_delivery *delivery)
{
	int64_t time_s = 0;

	if (value->kind != AMQP_FIELD_KIND_ARRAY || value->value.array.num_entries == 0)
		return;
	const amqp_field_value_t *latest = &value->value.array.entries[0];
	if (latest->kind != AMQP_FIELD_KIND_TABLE)
		return;
	for (int i = 0; i < latest->value.table.num_entries; i++) {
		const amqp_table_entry_t *entry = &latest->value.table.entries[i];

		/* Our own headers say it more exactly; they may stand before or behind. */
		if (has_key(entry, "reason") && delivery->reason[0] == '\0')
			read_text(&entry->value, delivery->reason, sizeof(delivery->reason));
		else if (has_key(entry, "queue") && delivery->origin[0] == '\0')
			read_text(&entry->value, delivery->origin, sizeof(delivery->origin));
		else if (has_key(entry, "time") && read_number(&entry->value, &time_s) &&
			 time_s > 0)
			delivery->death_s = (uint64_t)time_s;
	}
}

static void read_header(const amqp_table_entry_t *entry, struct broker_delivery *delivery)
{
	int64_t number;

	if (has_key(entry, trace_parent_header)) {
		read_text(&entry->value, delivery->trace_parent, sizeof(delivery->trace_parent));
	} else if (has_key(entry, due_header)) {
		delivery->has_due = read_number(&entry->value, &delivery->due_ms);
	} else if (has_key(entry, delivery_count_header)) {
		if (read_number(&entry->value, &number) && number >= 0)
			delivery->delivery_count = (uint64_t)number;
	} else if (has_key(entry, reason_header)) {
		read_text(&entry->value, delivery->reason, sizeof(delivery->reason));
	} else if (has_key(entry, origin_header)) {
		read_text(&entry->value, delivery->origin, sizeof(delivery->origin));
	} else if (has_key(entry, death_header)) {
		read_death(&entry->value, delivery);
	}
}

void broker_content_read(
	const amqp_basic_properties_t *properties, struct broker_delivery *delivery)
{
	if ((properties->_flags & AMQP_BASIC_MESSAGE_ID_FLAG) != 0)
		broker_content_copy_text(
			delivery->message_id, sizeof(delivery->message_id), properties->message_id);
	if ((properties->_flags & AMQP_BASIC_TYPE_FLAG) != 0)
		broker_content_copy_text(delivery->type, sizeof(delivery->type), properties->type);
	if ((properties->_flags & AMQP_BASIC_CONTENT_TYPE_FLAG) != 0)
		broker_content_copy_text(delivery->content_type, sizeof(delivery->content_type),
			properties->content_type);
	if ((properties->_flags & AMQP_BASIC_HEADERS_FLAG) == 0)
		return;
	for (int i = 0; i < properties->headers.num_entries; i++)
		read_header(&properties->headers.entries[i], delivery);
}
