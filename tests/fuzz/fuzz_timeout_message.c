/* timeout_message: an order number that was read is a key, and is written and read again. */
#include <string.h>

#include "common/order/timeout_message.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	char order_no[TEXT_KEY_SIZE];
	char again[TEXT_KEY_SIZE];
	char body[TIMEOUT_MESSAGE_SIZE];
	struct error error = { .text = "" };

	if (timeout_message_parse(bytes, size, "", order_no, &error) != RESULT_OK) {
		REQUIRE(error.text[0] != '\0');
		return 0;
	}
	REQUIRE(text_is_key(order_no, strlen(order_no), TEXT_KEY_MAX));
	size_t written = timeout_message_write(body, order_no);
	REQUIRE(timeout_message_parse((const uint8_t *)body, written, TIMEOUT_MESSAGE_TYPE, again,
			&error) == RESULT_OK);
	REQUIRE(text_equals(order_no, again));
	return 0;
}
