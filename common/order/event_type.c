#include "common/order/event_type.h"

#include <stddef.h>

#include "common/base/text.h"

const struct event_type event_types[EVENT_TYPE_COUNT] = {
	{ "ORDER_CREATED", "order.created", "order.created.v1" },
	{ "ORDER_PAID", "order.paid", "order.paid.v1" },
	{ "ORDER_CLOSED", "order.closed", "order.closed.v1" },
	{ "ORDER_EXTENDED", "order.extended", "order.extended.v1" },
	{ "PAYMENT_LATE", "payment.late", "payment.late.v1" },
	{ "PAYMENT_DUPLICATE", "payment.duplicate", "payment.duplicate.v1" },
	{ "PAYMENT_MISMATCH", "payment.mismatch", "payment.mismatch.v1" },
};

const struct event_type *event_type_find(const char *name)
{
	for (size_t i = 0; i < EVENT_TYPE_COUNT; i++)
		if (text_equals(event_types[i].name, name))
			return &event_types[i];
	return NULL;
}

const struct event_type *event_type_find_version(const char *version_type)
{
	for (size_t i = 0; i < EVENT_TYPE_COUNT; i++)
		if (text_equals(event_types[i].version_type, version_type))
			return &event_types[i];
	return NULL;
}
