#include "console/queues_page.h"

#include <inttypes.h>

#include "common/base/text.h"
#include "common/io/json.h"
#include "common/order/topology_queues.h"
#include "common/report/snapshot.h"
#include "console/page.h"
#include "console/respond.h"
#include "console/settings.h"

enum {
	NUMBER_SIZE = 24
};

/* What one row shows. */
struct row {
	struct topology_queue queue;
	const struct snapshot_queue *state;
	bool knows_unacked;
	const char *dead_letters;
};

static void format_number(uint64_t number, char text[NUMBER_SIZE])
{
	(void)text_format(text, NUMBER_SIZE, "%" PRIu64, number);
}

static const char *type_of(enum topology_role role)
{
	return role == TOPOLOGY_ROLE_PARKED ? "classic" : "quorum";
}

static void write_number(
	const struct visit *visit, struct html *html, bool is_known, uint64_t number)
{
	char text[NUMBER_SIZE];

	format_number(number, text);
	html_element(html, "td", is_known ? "number" : "number muted",
		is_known ? text : say(visit, PHRASE("unknown")));
}

static void write_row(const struct visit *visit, struct html *html, const struct row *row)
{
	bool is_there = row->state->is_there;

	html_open(html, "tr", HTML_END);
	if (row->queue.role == TOPOLOGY_ROLE_PARKED) {
		html_open(html, "td", HTML_END);
		page_link(visit, html, "/parked", row->queue.name);
		html_close(html, "td");
	} else {
		html_element(html, "td", NULL, row->queue.name);
	}
	html_element(html, "td", NULL, topology_role_name(row->queue.role));
	html_element(html, "td", NULL,
		is_there ? type_of(row->queue.role) : say(visit, PHRASE("not there")));
	write_number(visit, html, is_there, row->state->ready);
	write_number(visit, html, is_there && row->knows_unacked, row->state->unacked);
	write_number(visit, html, is_there, row->state->consumers);
	html_element(html, "td", NULL, row->dead_letters);
	html_close(html, "tr");
}

static void add_json(struct json *rows, const struct row *row)
{
	struct json *object = json_create_object();

	json_set_text(object, "name", row->queue.name);
	json_set_text(object, "role", topology_role_name(row->queue.role));
	json_set_bool(object, "is_there", row->state->is_there);
	if (row->state->is_there) {
		json_set_int(object, "ready", row->state->ready);
		json_set_int(object, "consumers", row->state->consumers);
	}
	if (row->state->is_there && row->knows_unacked)
		json_set_id(object, "unacked", row->state->unacked);
	json_append_adopt(rows, &object);
}

/* The queues in the order of the snapshot; html or rows is NULL. */
static void give_rows(const struct visit *visit, const struct snapshot_figures *figures,
	struct html *html, struct json *rows)
{
	const struct console_settings *settings = visit->context->settings;
	struct topology_queue queues[TOPOLOGY_QUEUE_MAX];
	struct topology *topology = NULL;

	topology_create(&settings->topology, &settings->amqp, &topology);
	size_t count = topology_list_queues(topology, queues);
	for (size_t i = 0; i < count && i < figures->queue_count; i++) {
		bool is_delay = queues[i].role == TOPOLOGY_ROLE_LEVEL ||
				queues[i].role == TOPOLOGY_ROLE_FIXED;
		const char *target = queues[i].role == TOPOLOGY_ROLE_DUE ? queues[1].name
				     : is_delay                          ? queues[0].name
									 : "–";
		const struct row row = { queues[i], &figures->queues[i],
			figures->parts[SNAPSHOT_PART_UNACKED].is_known, target };

		if (html != NULL)
			write_row(visit, html, &row);
		else
			add_json(rows, &row);
	}
	topology_destroy(&topology);
}

static void answer_json(struct visit *visit, const struct snapshot_figures *figures)
{
	struct json *root = json_create_object();
	struct json *rows = json_create_array();

	give_rows(visit, figures, NULL, rows);
	json_adopt(root, "rows", &rows);
	json_set_text(root, "broker", figures->broker);
	json_set_text(root, "delay_mode",
		figures->mode == TOPOLOGY_MODE_AUTO ? NULL : topology_mode_names[figures->mode]);
	respond_json(visit, 200, &root);
}

static void write_head(const struct visit *visit, struct html *html)
{
	static const char *const names[] = { PHRASE("Queue"), PHRASE("Role"), PHRASE("Type"),
		PHRASE("Ready"), PHRASE("Unacked"), PHRASE("Consumers"),
		PHRASE("Dead letters to") };

	page_table_head(visit, html, names, ARRAY_LENGTH(names));
}

static void answer_page(struct visit *visit, const struct snapshot_figures *figures)
{
	struct html *html = page_begin(visit, PHRASE("Queues"));

	html_open(html, "p", HTML_END);
	html_textf(html, "%s · ", figures->broker);
	page_fill(visit, html, PHRASE("delay mode: {1}"),
		figures->mode == TOPOLOGY_MODE_AUTO ? say(visit, PHRASE("unknown"))
						    : topology_mode_names[figures->mode],
		NULL);
	html_close(html, "p");
	html_open(html, "div", "class", "wide", HTML_END);
	html_open(html, "table", HTML_END);
	write_head(visit, html);
	html_open(html, "tbody", HTML_END);
	give_rows(visit, figures, html, NULL);
	html_close(html, "tbody");
	html_close(html, "table");
	html_close(html, "div");
	page_element(visit, html, "p", "muted",
		PHRASE("Queues are not emptied by hand: what is in them is owed to somebody."));
	page_end(visit, 200, &html);
}

void queues_page_show(struct visit *visit)
{
	const struct snapshot_figures *figures = snapshot_figures(visit->context->snapshot);
	const struct snapshot_state *state = &figures->parts[SNAPSHOT_PART_QUEUES];
	const char *why = figures->number == 0 ? say(visit, PHRASE("no figures yet")) : state->why;

	if (figures->number > 0 && state->is_known) {
		if (visit->is_api)
			answer_json(visit, figures);
		else
			answer_page(visit, figures);
		return;
	}
	if (visit->is_api) {
		respond_problem(visit, 503, PHRASE("Cannot tell at the moment."), why);
		return;
	}
	struct html *html = page_begin(visit, PHRASE("Queues"));
	page_empty(html, "empty unknown", say(visit, PHRASE("Cannot tell at the moment.")), why);
	page_end(visit, 503, &html);
}
