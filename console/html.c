#include "console/html.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/base/result.h"
#include "common/base/text.h"
#include "console/buffer.h"

enum {
	FORMATTED_SIZE = 1024
};

struct html {
	struct buffer buffer;
	const char *open[HTML_DEPTH_MAX];
	size_t depth;
};

void html_create(struct html **html_out)
{
	struct html *html = memory_allocate(sizeof(*html));

	buffer_add_text(&html->buffer, "<!doctype html>\n");
	*html_out = html;
}

static void html_destroy(struct html **html)
{
	if (*html == NULL)
		return;
	buffer_clear(&(*html)->buffer);
	free(*html);
	*html = NULL;
}

/* Control characters have no place in HTML; blanks and ends of lines do. */
static const char *escape(unsigned char byte)
{
	switch (byte) {
	case '&':
		return "&amp;";
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '"':
		return "&quot;";
	case '\'':
		return "&#39;";
	default:
		break;
	}
	bool is_control = byte < ' ' && byte != '\t' && byte != '\n';
	return is_control || byte == 0x7f ? "\xEF\xBF\xBD" : NULL;
}

void html_bytes(struct html *html, const char *bytes, size_t size)
{
	size_t begin = 0;

	for (size_t i = 0; i < size; i++) {
		const char *safe = escape((unsigned char)bytes[i]);

		if (safe == NULL)
			continue;
		buffer_add(&html->buffer, bytes + begin, i - begin);
		buffer_add_text(&html->buffer, safe);
		begin = i + 1;
	}
	buffer_add(&html->buffer, bytes + begin, size - begin);
}

void html_text(struct html *html, const char *text)
{
	if (text != NULL)
		html_bytes(html, text, strlen(text));
}

void html_textf(struct html *html, const char *format, ...)
{
	char text[FORMATTED_SIZE];
	va_list values;

	va_start(values, format);
	/* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): started above. */
	(void)vsnprintf(text, sizeof(text), format, values);
	va_end(values);
	html_text(html, text);
}

/* A name that is a constant of ours, checked all the same. */
static void add_name(struct html *html, const char *name)
{
	size_t length = strlen(name);

	REQUIRE(length > 0 &&
		strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-") ==
			length);
	buffer_add(&html->buffer, name, length);
}

static void add_tag(struct html *html, const char *tag, va_list *attributes)
{
	const char *name = NULL;

	buffer_add_text(&html->buffer, "<");
	add_name(html, tag);
	/* NOLINTBEGIN(clang-analyzer-valist.Uninitialized): both callers have started it. */
	while ((name = va_arg(*attributes, const char *)) != NULL) {
		const char *value = va_arg(*attributes, const char *);
		/* NOLINTEND(clang-analyzer-valist.Uninitialized) */

		if (value == NULL)
			continue;
		buffer_add_text(&html->buffer, " ");
		add_name(html, name);
		buffer_add_text(&html->buffer, "=\"");
		html_text(html, value);
		buffer_add_text(&html->buffer, "\"");
	}
	buffer_add_text(&html->buffer, ">");
}

static void push(struct html *html, const char *tag)
{
	REQUIRE(html->depth < HTML_DEPTH_MAX);
	html->open[html->depth++] = tag;
}

void html_open(struct html *html, const char *tag, ...)
{
	va_list attributes;

	va_start(attributes, tag);
	add_tag(html, tag, &attributes);
	va_end(attributes);
	push(html, tag);
}

void html_void(struct html *html, const char *tag, ...)
{
	va_list attributes;

	va_start(attributes, tag);
	add_tag(html, tag, &attributes);
	va_end(attributes);
}

void html_close(struct html *html, const char *tag)
{
	REQUIRE(html->depth > 0 && text_equals(html->open[html->depth - 1], tag));
	html->depth--;
	buffer_add_text(&html->buffer, "</");
	add_name(html, tag);
	buffer_add_text(&html->buffer, ">");
}

void html_element(struct html *html, const char *tag, const char *class_name, const char *text)
{
	html_open(html, tag, "class", class_name, HTML_END);
	html_text(html, text);
	html_close(html, tag);
}

void html_link(struct html *html, const char *address, const char *text)
{
	html_open(html, "a", "href", address, HTML_END);
	html_text(html, text);
	html_close(html, "a");
}

char *html_finish(struct html **html, size_t *size_out)
{
	while ((*html)->depth > 0)
		html_close(*html, (*html)->open[(*html)->depth - 1]);
	buffer_add_text(&(*html)->buffer, "\n");
	char *page = buffer_take(&(*html)->buffer, size_out);
	html_destroy(html);
	return page;
}
