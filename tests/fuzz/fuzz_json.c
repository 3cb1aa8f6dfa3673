/* json: what was read is written and read again, and is the same. */
#include <stdlib.h>
#include <string.h>

#include "common/base/text.h"
#include "common/io/json.h"
#include "tests/fuzz/fuzz.h"

enum {
	SIZE_MAX_BYTES = 65536
};

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct json *root = NULL;
	struct json *again = NULL;
	struct error error = { .text = "" };
	enum result result = json_parse(bytes, size, SIZE_MAX_BYTES, &root, &error);

	REQUIRE(result == RESULT_OK || (result == RESULT_PERMANENT && error.text[0] != '\0'));
	if (result != RESULT_OK)
		return 0;
	char *text = json_write(root);
	REQUIRE(json_parse(text, strlen(text), SIZE_MAX, &again, &error) == RESULT_OK);
	char *text_again = json_write(again);
	REQUIRE(text_equals(text, text_again));
	(void)json_get_text(root, "a");
	(void)json_at(root, 0);
	free(text_again);
	free(text);
	json_destroy(&again);
	json_destroy(&root);
	return 0;
}
