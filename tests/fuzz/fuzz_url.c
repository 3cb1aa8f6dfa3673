/* url and endpoint: any text is taken apart or refused. */
#include <stdlib.h>

#include "common/base/memory.h"
#include "common/base/url.h"
#include "common/io/endpoint.h"
#include "common/io/http.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	char *text = memory_copy_bytes(bytes, size);
	char target[HTTP_TARGET_SIZE];
	char value[32];
	struct url url;

	if (url_parse(text, &url))
		(void)url_find_query(&url, "tls", value, sizeof(value));
	if (http_is_url(text))
		http_format_target(text, target, sizeof(target));
	(void)endpoint_is_valid(text);
	free(text);
	return 0;
}
