/* order_request: what was read fits its columns; the bytes are also tried as a trace context. */
#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "gateway/order_request.h"
#include "tests/fuzz/fuzz.h"

static void check(const struct order_request *order)
{
	const struct creation *creation = &order->creation;

	REQUIRE(text_is_key(creation->order_no, strlen(creation->order_no), TEXT_KEY_MAX));
	REQUIRE(creation->amount_cents >= 0 && strlen(creation->currency) == 3);
	REQUIRE(creation->item_count <= CREATION_ITEM_MAX);
	REQUIRE(creation->has_timeout == (creation->timeout_ms > 0));
	for (size_t i = 0; i < creation->item_count; i++)
		REQUIRE(text_is_key(creation->items[i].sku_id, strlen(creation->items[i].sku_id),
			TEXT_KEY_MAX));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct order_request *order = memory_allocate(sizeof(*order));
	struct error error = { .text = "" };
	char *text = memory_copy_bytes(bytes, size);

	if (order_request_read(text, size, order, &error) == RESULT_OK)
		check(order);
	else
		REQUIRE(error.text[0] != '\0');
	order_request_set_trace(order, text);
	REQUIRE(strlen(order->creation.trace_parent) == 0 ||
		strlen(order->creation.trace_parent) == 55);
	free(text);
	free(order);
	return 0;
}
