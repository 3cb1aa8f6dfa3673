/* subscriber: a file of any bytes is a list of good subscribers, or is refused with words. */
#include <string.h>

#include "common/io/signature.h"
#include "common/order/subscriber.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct subscriber_list list = { .count = 0 };
	struct error error = { .text = "" };
	enum result result = subscriber_list_parse((const char *)bytes, size, &list, &error);

	REQUIRE(result == RESULT_OK || error.text[0] != '\0');
	REQUIRE(result == RESULT_OK || list.count == 0);
	for (size_t i = 0; i < list.count; i++) {
		REQUIRE(list.items[i].name[0] != '\0' && list.items[i].url != NULL);
		REQUIRE(signature_is_webhook_secret(list.items[i].secret));
		REQUIRE(i == 0 || strcmp(list.items[i - 1].name, list.items[i].name) < 0);
		(void)subscriber_wants(&list.items[i], "order.closed.v1");
	}
	subscriber_list_clear(&list);
	return 0;
}
