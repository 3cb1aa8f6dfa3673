#include "console/cell.h"

#include <ctype.h>
#include <string.h>

#include "common/base/text.h"
#include "console/instant.h"
#include "console/page.h"

enum {
	LONG_MIN = 160,  /* bytes; what is longer is folded */
	LONG_MAX = 4096, /* bytes shown before "show all" */
	PATH_SIZE = 192,
	STATE_CLASS_SIZE = 32,
};

/* Words that are states; the word is always there, the colour only helps. */
static const char *const state_columns[] = { "status", "state", "result", "outcome", "refund_state",
	"delivery_state", "severity", "order_status", NULL };

/* A count that may be missing: then it is not known, which is more than a dash says. */
static const char counted[] = "orders_24h";

static bool is_state(const char *name)
{
	for (size_t i = 0; state_columns[i] != NULL; i++)
		if (text_equals(state_columns[i], name))
			return true;
	return false;
}

static bool ends_with(const char *text, const char *ending)
{
	size_t length = strlen(text);
	size_t size = strlen(ending);

	return length >= size && text_equals(text + length - size, ending);
}

/* A class of the style sheet: letters of the word only. */
static void write_state(struct html *html, const char *value)
{
	char class_name[STATE_CLASS_SIZE] = "state ";
	size_t size = strlen(class_name);

	for (; *value != '\0' && size + 1 < sizeof(class_name); value++) {
		bool is_letter =
			(*value >= 'A' && *value <= 'Z') || (*value >= 'a' && *value <= 'z');

		class_name[size++] = (char)(is_letter ? tolower((unsigned char)*value) : '-');
	}
	class_name[size] = '\0';
	html_open(html, "span", "class", class_name, HTML_END);
}

static bool write_number(struct html *html, const char *name, const char *value)
{
	char length[INSTANT_DURATION_SIZE];
	uint64_t number = 0;

	bool is_negative = value[0] == '-';

	if (!text_parse_uint(value + (is_negative ? 1 : 0), 0, UINT64_MAX, &number))
		return false;
	if (ends_with(name, "_ms"))
		instant_format_duration(number, length);
	else if (ends_with(name, "_s") || ends_with(name, "_seconds"))
		instant_format_duration(
			number > UINT64_MAX / 1000 ? UINT64_MAX : number * 1000, length);
	else
		return false;
	html_open(html, "span", "title", value, HTML_END);
	html_textf(html, "%s%s", is_negative ? "-" : "", length);
	html_close(html, "span");
	return true;
}

void cell_write_long(const struct visit *visit, struct html *html, const char *value)
{
	const char *all = visit_query(visit, "all");
	size_t size = strlen(value);
	bool is_cut = size > LONG_MAX && (all == NULL || !text_equals(all, "1"));
	char head[LONG_MIN];

	(void)text_clip(head, 80, value, size);
	html_open(html, "details", "open", size < (size_t)4 * LONG_MIN ? "" : NULL, HTML_END);
	html_open(html, "summary", HTML_END);
	html_textf(html, "%s…", head);
	html_close(html, "summary");
	html_open(html, "pre", HTML_END);
	if (is_cut)
		while (size > 0 && (size > LONG_MAX || ((unsigned char)value[size] & 0xc0) == 0x80))
			size--;
	html_bytes(html, value, size);
	html_close(html, "pre");
	html_close(html, "details");
	if (is_cut) {
		char path[VISIT_PATH_SIZE + 8];

		(void)text_format(path, sizeof(path), "%s?all=1", visit->path);
		page_link(visit, html, path, say(visit, PHRASE("Show all")));
	}
}

static bool is_task(const char *name)
{
	return text_equals(name, "refund_task") || text_equals(name, "restore_task");
}

void cell_write_value(
	const struct visit *visit, struct html *html, const char *name, const char *value)
{
	int64_t epoch_ms = 0;

	if (value == NULL && text_equals(name, counted)) {
		page_element(visit, html, "span", "muted", PHRASE("unknown"));
	} else if (value == NULL || value[0] == '\0') {
		html_element(html, "span", "muted", "–");
	} else if (is_state(name)) {
		write_state(html, value);
		html_text(html, value);
		html_close(html, "span");
	} else if (text_equals(name, "order_no")) {
		page_link_to(visit, html, "/orders/", value, value);
	} else if (is_task(name)) {
		page_link_to(visit, html, "/tasks/", value, value);
	} else if (text_equals(name, "timeout_seconds") && text_equals(value, "0")) {
		page_say(visit, html, PHRASE("never"));
	} else if (text_equals(name, "rule_id")) {
		page_link_to(visit, html, "/rules/", value, value);
	} else if (text_parse_time(value, &epoch_ms)) {
		page_time(visit, html, value);
	} else if (strlen(value) > LONG_MIN) {
		cell_write_long(visit, html, value);
	} else if (!write_number(html, name, value)) {
		html_text(html, value);
	}
}

static bool is_text(const char *name)
{
	return text_equals(name, "last_error") || text_equals(name, "summary");
}

/* A class of the style sheet: long texts get room, ids that are not numbers stay in one line. */
static const char *text_class(const char *name, const char *value)
{
	if (value == NULL || value[0] == '\0')
		return NULL;
	return is_text(name) ? "long" : text_equals(name, "event_id") ? "key" : NULL;
}

void cell_write(const struct visit *visit, struct html *html, const struct listing_column *column,
	const char *value, const char *folder)
{
	char path[PATH_SIZE];

	switch (column->type) {
	case LISTING_TYPE_NUMBER:
	case LISTING_TYPE_COUNT:
		html_open(html, "td", "class", "number", HTML_END);
		break;
	case LISTING_TYPE_TIME:
		html_open(html, "td", "class", "time", HTML_END);
		break;
	case LISTING_TYPE_TEXT:
		html_open(html, "td", "class", text_class(column->name, value), HTML_END);
		break;
	case LISTING_TYPE_ID:
	case LISTING_TYPE_BOOL:
		html_open(html, "td", HTML_END);
		break;
	}
	if (folder != NULL && value != NULL && value[0] != '\0') {
		(void)text_format(path, sizeof(path), "%s/", folder);
		page_link_to(visit, html, path, value, value);
	} else if (column->type == LISTING_TYPE_BOOL) {
		bool is_set = value != NULL && text_equals(value, "1");

		html_text(html, is_set ? say(visit, PHRASE("yes")) : "–");
	} else {
		cell_write_value(visit, html, column->name, value);
	}
	html_close(html, "td");
}
