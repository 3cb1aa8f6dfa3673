#include "console/list_page.h"

#include <string.h>

#include "common/base/text.h"
#include "common/report/snapshot.h"
#include "console/buffer.h"
#include "console/cell.h"
#include "console/instant.h"
#include "console/page.h"

enum {
	PATH_SIZE = 512,
	PROOF_SIZE = 256,
	TICK_SIZE = 48,
	COLUMN_MAX = 32,
};

/* The columns of a list in the order of the page. */
struct layout {
	const struct listing_column *columns;
	size_t count;
	size_t places[COLUMN_MAX];
};

static const char *find_value(const struct list_request *request, const char *name)
{
	for (size_t i = 0; i < request->request.value_count; i++)
		if (text_equals(request->values[i].name, name))
			return request->values[i].value;
	return NULL;
}

static void write_filter(const struct visit *visit, struct html *html,
	const struct listing_filter *filter, const char *value)
{
	if (filter->words != NULL)
		page_choice(visit, html, filter->name, filter->name, filter->words, value);
	else
		page_field(
			visit, html, filter->name, filter->name, value, say(visit, filter->form));
}

static void write_filters(struct visit *visit, struct html *html, const struct list_view *view,
	const struct list_request *request)
{
	size_t count = 0;
	const struct listing_filter *filters = listing_filters(listing_find(view->kind), &count);
	char action[PATH_SIZE];

	(void)text_format(action, sizeof(action), "%s%s", visit->context->prefix, view->path);
	html_open(html, "form", "method", "get", "action", action, "class", "filters", "role",
		"search", HTML_END);
	for (size_t i = 0; i < count; i++)
		write_filter(visit, html, &filters[i], find_value(request, filters[i].name));
	html_open(html, "p", "class", "buttons", HTML_END);
	html_open(html, "button", "type", "submit", HTML_END);
	page_say(visit, html, PHRASE("Filter"));
	html_close(html, "button");
	html_text(html, " ");
	page_link(visit, html, view->path, say(visit, PHRASE("Clear")));
	html_close(html, "p");
	html_close(html, "form");
}

static size_t find_column(const struct layout *layout, const char *name)
{
	size_t place = 0;

	while (place < layout->count &&
		(name == NULL || !text_equals(layout->columns[place].name, name)))
		place++;
	return place;
}

/* What is wrong stands beside the state, where a window that is not wide shows it, too. */
static void lay_out(const struct list_view *view, struct layout *layout)
{
	layout->columns = listing_columns(listing_find(view->kind), &layout->count);
	REQUIRE(layout->count <= COLUMN_MAX);
	size_t state = find_column(layout, "status");
	if (state == layout->count)
		state = find_column(layout, "state");
	size_t wrong = find_column(layout, "summary");
	if (wrong == layout->count)
		wrong = find_column(layout, "last_error");
	bool is_moved = state < wrong && wrong < layout->count;
	size_t used = 0;
	for (size_t i = 0; i < layout->count; i++) {
		if (!is_moved || i != wrong)
			layout->places[used++] = i;
		if (is_moved && i == state)
			layout->places[used++] = wrong;
	}
}

static void write_head_row(
	const struct visit *visit, struct html *html, const struct layout *layout, bool has_ticks)
{
	html_open(html, "thead", HTML_END);
	html_open(html, "tr", HTML_END);
	if (has_ticks) {
		html_open(html, "th", "scope", "col", "class", "tick", HTML_END);
		html_void(html, "input", "type", "checkbox", "id", "all", "hidden", "",
			"aria-label", say(visit, PHRASE("All")), HTML_END);
		html_close(html, "th");
	}
	for (size_t i = 0; i < layout->count; i++) {
		html_open(html, "th", "scope", "col", HTML_END);
		page_name(visit, html, layout->columns[layout->places[i]].name);
		html_close(html, "th");
	}
	html_close(html, "tr");
	html_close(html, "thead");
}

static void write_tick(
	const struct visit *visit, struct html *html, const char *id, const char *shown)
{
	char value[TICK_SIZE];

	(void)text_format(value, sizeof(value), "%s%s%s", id, shown == NULL ? "" : ":",
		shown == NULL ? "" : shown);
	html_open(html, "td", "class", "tick", HTML_END);
	html_void(html, "input", "type", "checkbox", "name", "id", "value", value, "aria-label",
		say(visit, PHRASE("Select")), HTML_END);
	html_close(html, "td");
}

static void write_rows(const struct visit *visit, struct html *html, const struct list_view *view,
	const struct listing_page *page, bool has_ticks)
{
	struct layout layout;

	lay_out(view, &layout);
	size_t key = find_column(&layout, view->key_column);
	size_t id = find_column(&layout, "id");
	size_t shown = find_column(&layout, view->ticks_column);
	html_open(html, "div", "class", "wide", HTML_END);
	html_open(html, "table", HTML_END);
	write_head_row(visit, html, &layout, has_ticks);
	html_open(html, "tbody", HTML_END);
	for (size_t row = 0; row < listing_page_count(page); row++) {
		html_open(html, "tr", HTML_END);
		if (has_ticks)
			write_tick(visit, html, listing_page_value(page, row, id),
				shown == layout.count ? NULL
						      : listing_page_value(page, row, shown));
		for (size_t i = 0; i < layout.count; i++) {
			size_t place = layout.places[i];

			cell_write(visit, html, &layout.columns[place],
				listing_page_value(page, row, place),
				place == key ? view->path : NULL);
		}
		html_close(html, "tr");
	}
	html_close(html, "tbody");
	html_close(html, "table");
	html_close(html, "div");
}

/* The proof beside "all clear": how old the figures are that say so, too. */
static void format_proof(const struct visit *visit, char proof[PROOF_SIZE])
{
	uint64_t age_ms = snapshot_age_ms(visit->context->snapshot);
	char age[INSTANT_DURATION_SIZE];

	proof[0] = '\0';
	if (age_ms == UINT64_MAX)
		return;
	instant_format_duration(age_ms, age);
	phrase_fill(proof, PROOF_SIZE,
		say(visit, PHRASE("Read just now; the figures are {1} old.")), age, NULL);
}

static void write_nothing(const struct visit *visit, struct html *html,
	const struct list_view *view, const struct list_request *request,
	const struct listing_page *page)
{
	char words[LISTING_WORDS_SIZE + PROOF_SIZE];
	char proof[PROOF_SIZE];

	if (request->request.value_count == 0) {
		format_proof(visit, proof);
		page_empty(html, "empty clear", say(visit, view->clear), proof);
		return;
	}
	phrase_fill(words, sizeof(words), say(visit, PHRASE("Nothing matches: {1}")),
		listing_page_words(page), NULL);
	html_open(html, "div", "class", "empty none", "role", "status", HTML_END);
	html_element(html, "p", NULL, words);
	html_open(html, "p", HTML_END);
	page_link(visit, html, view->path, say(visit, PHRASE("Clear")));
	html_close(html, "p");
	html_close(html, "div");
}

/* A way on: the same filter, and more behind it. */
struct way {
	const char *path;
	const char *more;
	const char *value;
	const char *english;
};

static void write_way(const struct visit *visit, struct html *html,
	const struct list_request *request, const struct way *way)
{
	struct buffer address = { .text = NULL };

	list_add_address(way->path, request, &address);
	buffer_add_text(&address, way->more);
	buffer_add_encoded(&address, way->value);
	page_link(visit, html, buffer_text(&address), say(visit, way->english));
	html_text(html, " ");
	buffer_clear(&address);
}

static void write_ways_on(const struct visit *visit, struct html *html,
	const struct list_view *view, const struct list_request *request,
	const struct listing_page *page)
{
	const char *after = request->request.after;
	const char *next = listing_page_next(page);
	char export_path[PATH_SIZE];

	(void)text_format(export_path, sizeof(export_path), "%s/export", view->path);
	const struct way first = { view->path, "", "", PHRASE("First page") };
	const struct way on = { view->path, "&after=", next, PHRASE("Next page") };
	const struct way csv = { export_path, "&format=", "csv", "CSV" };
	const struct way lines = { export_path, "&format=", "jsonl", "JSON Lines" };

	html_open(html, "p", "class", "on", HTML_END);
	if (after != NULL && after[0] != '\0')
		write_way(visit, html, request, &first);
	if (next[0] != '\0')
		write_way(visit, html, request, &on);
	write_way(visit, html, request, &csv);
	write_way(visit, html, request, &lines);
	html_close(html, "p");
}

static struct html *begin(
	struct visit *visit, const struct list_view *view, const struct list_request *request)
{
	struct html *html = page_begin(visit, view->title);

	if (view->write_acts != NULL)
		view->write_acts(visit, html);
	write_filters(visit, html, view, request);
	return html;
}

void list_page_answer(struct visit *visit, const struct list_view *view,
	const struct list_request *request, const struct listing_page *page)
{
	struct html *html = begin(visit, view, request);
	bool has_ticks = view->ticks_path != NULL && visit_may(visit, ROLE_OPERATOR);
	char action[PATH_SIZE];

	if (listing_page_count(page) == 0) {
		write_nothing(visit, html, view, request, page);
		page_end(visit, 200, &html);
		return;
	}
	html_open(html, "p", "class", "words", HTML_END);
	page_fill(visit, html, PHRASE("Shown: {1}"), say(visit, listing_page_words(page)), NULL);
	html_close(html, "p");
	if (has_ticks) {
		(void)text_format(
			action, sizeof(action), "%s%s", visit->context->prefix, view->ticks_path);
		html_open(html, "form", "method", "get", "action", action, HTML_END);
	}
	write_rows(visit, html, view, page, has_ticks);
	if (has_ticks) {
		html_open(html, "button", "type", "submit", HTML_END);
		page_say(visit, html, view->ticks_button);
		html_close(html, "button");
		html_close(html, "form");
	}
	write_ways_on(visit, html, view, request, page);
	page_end(visit, 200, &html);
}

void list_page_answer_unknown(struct visit *visit, const struct list_view *view,
	const struct list_request *request, const char *why)
{
	struct html *html = begin(visit, view, request);

	page_empty(html, "empty unknown", say(visit, PHRASE("Cannot tell at the moment.")), why);
	page_end(visit, 503, &html);
}
