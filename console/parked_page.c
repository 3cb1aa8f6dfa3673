#include "console/parked_page.h"

#include <inttypes.h>

#include "common/base/text.h"
#include "common/io/json.h"
#include "common/order/act_parked.h"
#include "console/acts.h"
#include "console/cell.h"
#include "console/ledger.h"
#include "console/page.h"
#include "console/respond.h"
#include "console/settings.h"

enum {
	PATH_SIZE = 160,
	NUMBER_SIZE = 24,
};

/* OK with a queue, NONE without one, or a failure. */
static enum result open_queue(
	struct visit *visit, struct parked_queue **queue_out, struct error *error)
{
	const struct console_settings *settings = visit->context->settings;
	const struct parked_settings parked = {
		.broker = &settings->amqp,
		.topology = &settings->topology,
		.program = "lapse-console",
	};

	*queue_out = NULL;
	if (settings->amqp.url == NULL)
		return error_set(RESULT_TEMPORARY, error, "LAPSE_AMQP_URL is not set");
	return parked_queue_open(&parked, PARKED_LOOK_MAX, queue_out, error);
}

static struct json *to_json(const struct parked_message *message)
{
	struct json *root = json_create_object();

	json_set_text(root, "sha256", message->sha256);
	json_set_text(root, "reason", message->reason);
	json_set_text(root, "origin", message->origin);
	json_set_text(root, "type", message->type);
	json_set_text(root, "content_type", message->content_type);
	json_set_text(root, "message_id", message->message_id);
	json_set_int(root, "size", (int64_t)message->body_size);
	json_set_text(root, "text", message->text);
	return root;
}

static bool is_wanted(const struct visit *visit, const struct parked_message *message)
{
	const char *reason = visit_query(visit, "reason");

	return reason == NULL || reason[0] == '\0' || text_equals(message->reason, reason);
}

static void answer_json(struct visit *visit, struct parked_queue *queue)
{
	struct json *root = json_create_object();
	struct json *rows = json_create_array();

	for (size_t i = 0; queue != NULL && i < parked_queue_count(queue); i++) {
		const struct parked_message *message = parked_queue_at(queue, i);

		if (!is_wanted(visit, message))
			continue;
		struct json *row = to_json(message);
		json_append_adopt(rows, &row);
	}
	json_adopt(root, "rows", &rows);
	respond_json(visit, 200, &root);
}

static void write_filter(const struct visit *visit, struct html *html)
{
	char action[PATH_SIZE];

	(void)text_format(action, sizeof(action), "%s/parked", visit->context->prefix);
	html_open(html, "form", "method", "get", "action", action, "class", "filters", "role",
		"search", HTML_END);
	page_field(visit, html, "reason", "reason", visit_query(visit, "reason"), NULL);
	html_open(html, "p", "class", "buttons", HTML_END);
	html_open(html, "button", "type", "submit", HTML_END);
	page_say(visit, html, PHRASE("Filter"));
	html_close(html, "button");
	html_text(html, " ");
	page_link(visit, html, "/parked", say(visit, PHRASE("Clear")));
	html_close(html, "p");
	html_close(html, "form");
}

static void write_row(
	const struct visit *visit, struct html *html, const struct parked_message *message)
{
	char size[NUMBER_SIZE];

	(void)text_format(size, sizeof(size), "%zu", message->body_size);
	html_open(html, "tr", HTML_END);
	html_open(html, "td", HTML_END);
	page_link_to(visit, html, "/parked/", message->sha256, message->sha256);
	html_close(html, "td");
	html_element(html, "td", NULL, message->reason);
	html_element(html, "td", NULL, message->origin);
	html_element(html, "td", NULL, message->type);
	html_element(html, "td", "number", size);
	html_close(html, "tr");
}

static size_t write_rows(const struct visit *visit, struct html *html, struct parked_queue *queue)
{
	static const char *const names[] = { "sha256", "reason", "origin", "type", "size" };
	size_t shown = 0;

	html_open(html, "div", "class", "wide", HTML_END);
	html_open(html, "table", HTML_END);
	page_table_head(visit, html, names, ARRAY_LENGTH(names));
	html_open(html, "tbody", HTML_END);
	for (size_t i = 0; i < parked_queue_count(queue); i++) {
		if (!is_wanted(visit, parked_queue_at(queue, i)))
			continue;
		write_row(visit, html, parked_queue_at(queue, i));
		shown++;
	}
	html_close(html, "tbody");
	html_close(html, "table");
	html_close(html, "div");
	return shown;
}

static void answer_page(struct visit *visit, struct parked_queue *queue)
{
	struct html *html = page_begin(visit, PHRASE("Parked messages"));

	write_filter(visit, html);
	if (queue == NULL)
		page_empty(html, "empty clear",
			say(visit, PHRASE("All clear: no message is parked.")),
			say(visit, PHRASE("The queue was read just now.")));
	else if (write_rows(visit, html, queue) == 0)
		page_empty(html, "empty none", say(visit, PHRASE("Nothing matches.")), NULL);
	if (queue != NULL && parked_queue_count(queue) == PARKED_LOOK_MAX)
		page_element(visit, html, "p", "muted",
			PHRASE("Only the oldest 100 messages are looked at."));
	page_end(visit, 200, &html);
}

static void answer_unknown(struct visit *visit, enum result result, const struct error *error)
{
	if (visit->is_api) {
		respond_failure(visit, result, error);
		return;
	}
	struct html *html = page_begin(visit, PHRASE("Parked messages"));
	page_empty(html, "empty unknown", say(visit, PHRASE("Cannot tell at the moment.")),
		error->text);
	page_end(visit, 503, &html);
}

void parked_page_show(struct visit *visit)
{
	struct parked_queue *queue = NULL;
	struct error error = { .text = "" };
	enum result result = open_queue(visit, &queue, &error);

	if (result != RESULT_OK && result != RESULT_NONE)
		answer_unknown(visit, result, &error);
	else if (visit->is_api)
		answer_json(visit, queue);
	else
		answer_page(visit, queue);
	parked_queue_close(&queue);
}

static void write_acts(const struct visit *visit, struct html *html,
	const struct parked_queue *queue, const struct parked_message *message)
{
	struct error error = { .text = "" };
	const char *objection = act_parked_objection(queue, message, &error);
	char path[PATH_SIZE];

	if (visit_may(visit, ROLE_OPERATOR) && objection == NULL) {
		(void)text_format(path, sizeof(path), "/parked/%s/replay", message->sha256);
		page_form(visit, html, path);
		page_form_end(visit, html, "primary", PHRASE("Replay to where it came from"));
	}
	if (objection != NULL) {
		html_open(html, "p", HTML_END);
		page_fill(visit, html, PHRASE("It cannot be replayed: {1}"), objection, NULL);
		html_close(html, "p");
	}
	if (!visit_may(visit, ROLE_ADMIN))
		return;
	(void)text_format(path, sizeof(path), "/parked/%s/discard", message->sha256);
	page_form(visit, html, path);
	acts_write_reason(visit, html);
	page_form_end(visit, html, "danger", PHRASE("Discard; the audit keeps its text"));
}

static void answer_one(
	struct visit *visit, const struct parked_queue *queue, const struct parked_message *message)
{
	struct html *html = page_begin(visit, PHRASE("Parked message"));
	const char *const properties[][2] = {
		{ "sha256", message->sha256 },
		{ "reason", message->reason },
		{ "origin", message->origin },
		{ "type", message->type },
		{ "content_type", message->content_type },
		{ "message_id", message->message_id },
	};

	html_open(html, "dl", HTML_END);
	for (size_t i = 0; i < ARRAY_LENGTH(properties); i++) {
		html_element(html, "dt", NULL, say(visit, properties[i][0]));
		html_element(html, "dd", NULL, properties[i][1]);
	}
	html_close(html, "dl");
	cell_write_long(visit, html, message->text);
	write_acts(visit, html, queue, message);
	page_end(visit, 200, &html);
}

void parked_page_show_one(struct visit *visit)
{
	struct parked_queue *queue = NULL;
	struct error error = { .text = "" };
	enum result result = open_queue(visit, &queue, &error);
	const struct parked_message *message =
		queue == NULL ? NULL : parked_queue_find(queue, visit->part);

	if (result != RESULT_OK && result != RESULT_NONE)
		answer_unknown(visit, result, &error);
	else if (message == NULL)
		respond_problem(visit, 404, PHRASE("There is no such row."), visit->part);
	else if (visit->is_api) {
		struct json *root = to_json(message);

		respond_json(visit, 200, &root);
	} else {
		answer_one(visit, queue, message);
	}
	parked_queue_close(&queue);
}

static void carry_out(struct visit *visit, bool is_replay)
{
	struct act_parked request = {
		.sha256 = visit->part,
		.is_replay = is_replay,
		.reason = form_get(visit->form, "reason"),
	};
	struct act_result outcome = { .words = "" };
	struct error error = { .text = "" };
	struct ledger_actor actor;

	if (!ledger_actor(visit, &actor))
		return;
	struct db *db = ledger_open(visit);
	if (db == NULL)
		return;
	enum result result = open_queue(visit, &request.queue, &error);
	if (result == RESULT_OK || result == RESULT_NONE)
		result = act_on_parked(db, &request, &actor.actor, &outcome, &error);
	parked_queue_close(&request.queue);
	ledger_answer(visit, is_replay ? "replay" : "discard", "/parked", result, &outcome, &error);
}

void parked_page_replay(struct visit *visit)
{
	carry_out(visit, true);
}

void parked_page_discard(struct visit *visit)
{
	carry_out(visit, false);
}
