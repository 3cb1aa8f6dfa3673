#include "console/fleet_page.h"

#include "common/base/text.h"
#include "common/io/json.h"
#include "console/fleet.h"
#include "console/instant.h"
#include "console/page.h"
#include "console/respond.h"

static bool is_wanted(const struct visit *visit, const struct fleet_member *member)
{
	const char *program = visit_query(visit, "program");

	return program == NULL || program[0] == '\0' || text_equals(member->program, program) ||
	       text_equals(member->name, program);
}

static void answer_json(struct visit *visit, const struct fleet *fleet)
{
	struct json *root = json_create_object();
	struct json *rows = json_create_array();

	for (size_t i = 0; i < fleet_count(fleet); i++) {
		const struct fleet_member *member = fleet_at(fleet, i);

		if (!is_wanted(visit, member))
			continue;
		struct json *row = json_create_object();
		json_set_text(row, "name", member->name);
		json_set_text(row, "address", member->address);
		json_set_text(row, "program", member->program);
		json_set_text(row, "version", member->version);
		json_set_bool(row, "is_ready", member->is_ready);
		json_set_text(row, "why", member->why);
		json_append_adopt(rows, &row);
	}
	json_adopt(root, "rows", &rows);
	json_set_bool(root, "is_mixed", fleet_count_versions(fleet) > 1);
	respond_json(visit, 200, &root);
}

static void write_row(
	const struct visit *visit, struct html *html, const struct fleet_member *member)
{
	html_open(html, "tr", HTML_END);
	html_element(html, "td", NULL, member->name);
	html_element(html, "td", NULL, member->address[0] == '\0' ? "–" : member->address);
	html_element(html, "td", NULL, member->program[0] == '\0' ? "–" : member->program);
	html_element(html, "td", NULL, member->version[0] == '\0' ? "–" : member->version);
	html_open(html, "td", HTML_END);
	html_element(html, "span", member->is_ready ? "state ok" : "state dead",
		say(visit, member->is_ready ? PHRASE("ready") : PHRASE("not ready")));
	html_close(html, "td");
	html_element(html, "td", NULL, member->why);
	html_close(html, "tr");
}

static void write_table(const struct visit *visit, struct html *html, const struct fleet *fleet)
{
	static const char *const names[] = { PHRASE("Name"), PHRASE("Address"), PHRASE("Program"),
		PHRASE("Version"), PHRASE("State"), PHRASE("Why") };

	html_open(html, "div", "class", "wide", HTML_END);
	html_open(html, "table", HTML_END);
	page_table_head(visit, html, names, ARRAY_LENGTH(names));
	html_open(html, "tbody", HTML_END);
	for (size_t i = 0; i < fleet_count(fleet); i++)
		if (is_wanted(visit, fleet_at(fleet, i)))
			write_row(visit, html, fleet_at(fleet, i));
	html_close(html, "tbody");
	html_close(html, "table");
	html_close(html, "div");
}

/* A PHRASE; NULL: the fleet is known. */
static const char *find_trouble(const struct fleet *fleet)
{
	if (!fleet_is_configured(fleet))
		return PHRASE("LAPSE_CONSOLE_FLEET names nobody to ask.");
	return fleet_age_ms(fleet) == UINT64_MAX ? PHRASE("The fleet is being asked.") : NULL;
}

static void answer_page(struct visit *visit, const struct fleet *fleet, const char *trouble)
{
	char length[INSTANT_DURATION_SIZE];
	struct html *html = page_begin(visit, PHRASE("Fleet"));

	if (trouble != NULL) {
		page_empty(html, "empty unknown", say(visit, PHRASE("Cannot tell at the moment.")),
			say(visit, trouble));
	} else {
		if (fleet_count_versions(fleet) > 1)
			page_element(visit, html, "p", "notice bad",
				PHRASE("More than one version is running."));
		write_table(visit, html, fleet);
		instant_format_duration(fleet_age_ms(fleet), length);
		html_open(html, "p", "class", "muted", HTML_END);
		page_fill(visit, html, PHRASE("Asked {1} ago."), length, NULL);
		html_close(html, "p");
	}
	page_end(visit, 200, &html);
}

void fleet_page_show(struct visit *visit)
{
	const struct fleet *fleet = visit->context->fleet;
	const char *trouble = find_trouble(fleet);

	if (!visit->is_api)
		answer_page(visit, fleet, trouble);
	else if (trouble != NULL)
		respond_problem(visit, 503, PHRASE("Cannot tell at the moment."), trouble);
	else
		answer_json(visit, fleet);
}
