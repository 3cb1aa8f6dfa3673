/* The writer of pages: what comes from a row never becomes markup. */
#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "console/html.h"
#include "tests/support/runner.h"

static const char start[] = "<!doctype html>\n";

/* Ends the page; the rest behind the doctype is the caller's. */
static char *finish(struct html **html)
{
	size_t size = 0;
	char *page = html_finish(html, &size);

	ck_assert_ptr_null(*html);
	ck_assert_uint_eq(size, strlen(page));
	ck_assert_int_eq(strncmp(page, start, strlen(start)), 0);
	char *rest = memory_copy_text(page + strlen(start));
	free(page);
	return rest;
}

static void expect(struct html **html, const char *wanted)
{
	char *page = finish(html);

	ck_assert_str_eq(page, wanted);
	free(page);
}

START_TEST(texts_and_values_are_escaped)
{
	struct html *html = NULL;

	html_create(&html);
	html_open(html, "a", "href", "/x?a=1&b=\"'<>", HTML_END);
	html_text(html, "<script>alert('1') && \"2\"</script>\t\n");
	html_textf(html, "%s", "<b>");
	html_close(html, "a");
	html_element(html, "p", NULL, "</p>");
	expect(&html,
		"<a href=\"/x?a=1&amp;b=&quot;&#39;&lt;&gt;\">&lt;script&gt;alert(&#39;1&#39;) "
		"&amp;&amp; &quot;2&quot;&lt;/script&gt;\t\n&lt;b&gt;</a><p>&lt;/p&gt;</p>\n");
}
END_TEST

START_TEST(control_characters_are_replaced)
{
	struct html *html = NULL;

	html_create(&html);
	html_bytes(html, "a\x01\x7f\x1b[0mb\0c", 10);
	expect(&html, "a\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD[0mb\xEF\xBF\xBD"
		      "c\n");
}
END_TEST

START_TEST(an_attribute_without_value_is_left_out_and_what_is_open_is_closed)
{
	struct html *html = NULL;

	html_create(&html);
	html_open(html, "div", "class", (const char *)NULL, "id", "x", HTML_END);
	html_open(html, "ul", HTML_END);
	html_void(html, "input", "disabled", "", HTML_END);
	html_text(html, NULL);
	expect(&html, "<div id=\"x\"><ul><input disabled=\"\"></ul></div>\n");
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		texts_and_values_are_escaped,
		control_characters_are_replaced,
		an_attribute_without_value_is_left_out_and_what_is_open_is_closed,
	};

	return runner_run("html", tests, ARRAY_LENGTH(tests));
}
