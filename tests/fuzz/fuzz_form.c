/* What reaches the console from outside: forms, JSON, names with passwords, addresses, tokens,
 * times.  The first byte chooses. */
#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/base/text.h"
#include "console/base64.h"
#include "console/csrf.h"
#include "console/form.h"
#include "console/html.h"
#include "console/instant.h"
#include "console/network.h"
#include "tests/fuzz/fuzz.h"

enum {
	PAIR_SIZE = 64,
	KINDS = 5
};

static void read_form(const char *text, size_t size, bool is_json)
{
	struct form *form = NULL;
	struct error error = { .text = "" };
	enum result result = is_json ? form_read_json(text, size, &form, &error)
				     : form_read(text, size, &form, &error);

	REQUIRE((result == RESULT_OK) == (form != NULL));
	REQUIRE(form_count(form) <= FORM_FIELD_MAX);
	for (size_t i = 0; i < form_count(form); i++)
		REQUIRE(form_get(form, form_name_at(form, i)) != NULL);
	form_destroy(&form);
}

static void read_token(const char *text)
{
	char words[CSRF_WORDS_SIZE];
	const struct csrf_headers headers = { .origin = text, .host = text, .origins = text };

	REQUIRE(!csrf_check_token(
		text, "0123456789abcdef0123456789abcdef", "maria", "/tasks/1", 7, words));
	REQUIRE(words[0] != '\0');
	(void)csrf_check_headers(&headers, words);
}

static void read_moment(const char *text)
{
	int64_t epoch_ms = 0;
	int64_t again_ms = 0;
	char formatted[INSTANT_SIZE];

	if (!text_parse_time(text, &epoch_ms) || epoch_ms < 0)
		return;
	text_format_time(formatted, sizeof(formatted), (uint64_t)epoch_ms);
	REQUIRE(text_parse_time(formatted, &again_ms) && again_ms == epoch_ms);
}

/* Between its tags a text has no sign that begins a tag. */
static void write_text(const char *text, size_t size)
{
	struct html *html = NULL;
	size_t page_size = 0;

	html_create(&html);
	html_open(html, "b", "title", text, HTML_END);
	html_bytes(html, text, size);
	char *page = html_finish(&html, &page_size);
	size_t tags = 0;
	for (size_t i = 0; i < page_size; i++)
		tags += page[i] == '<' ? 1 : 0;
	REQUIRE(tags == 3);
	free(page);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	size_t skipped = size == 0 ? 0 : 1;
	char *text = memory_copy_bytes(bytes + skipped, size - skipped);
	char pair[PAIR_SIZE];
	struct network network;

	switch (size == 0 ? 0 : bytes[0] % KINDS) {
	case 0:
		read_form(text, size - skipped, false);
		break;
	case 1:
		read_form(text, size - skipped, true);
		break;
	case 2:
		(void)base64_decode(text, pair, sizeof(pair));
		if (network_parse(text, &network))
			(void)network_has(&network, "10.0.0.1");
		break;
	case 3:
		read_token(text);
		read_moment(text);
		break;
	default:
		write_text(text, size - skipped);
		break;
	}
	free(text);
	return 0;
}
