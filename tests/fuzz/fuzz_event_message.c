/* event_message: what was read are keys. */
#include <string.h>

#include "common/order/event_message.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct event_message message;
	struct error error = { .text = "" };

	if (event_message_parse(bytes, size, &message, &error) != RESULT_OK) {
		REQUIRE(error.text[0] != '\0');
		return 0;
	}
	REQUIRE(text_is_key(message.event_id, strlen(message.event_id), TEXT_KEY_MAX));
	REQUIRE(text_is_key(message.type, strlen(message.type), TEXT_KEY_MAX));
	REQUIRE(text_is_key(message.order_no, strlen(message.order_no), TEXT_KEY_MAX));
	return 0;
}
