#include "console/rule_page.h"

#include <inttypes.h>

#include "common/base/moment.h"
#include "common/base/text.h"
#include "common/io/json.h"
#include "common/order/act_rule.h"
#include "common/order/rule_change.h"
#include "common/report/rule_effect.h"
#include "console/acts.h"
#include "console/instant.h"
#include "console/ledger.h"
#include "console/page.h"
#include "console/record_page.h"
#include "console/respond.h"
#include "console/rule_effect_page.h"

enum {
	PATH_SIZE = 128,
	NUMBER_SIZE = 24,
};

static const char time_hint[] = "2026-01-31T18:30:00Z";

void rule_page_write_acts(const struct visit *visit, struct html *html)
{
	html_open(html, "p", "class", "acts", HTML_END);
	acts_write_link(visit, html, "/rules/test", PHRASE("Which rule would win?"));
	if (visit_may(visit, ROLE_ADMIN))
		acts_write_link(visit, html, "/rules/add", PHRASE("Add a rule…"));
	html_close(html, "p");
}

void rule_page_write_row_acts(
	const struct visit *visit, struct html *html, const struct json *record)
{
	char path[PATH_SIZE];

	(void)record;
	if (!visit_may(visit, ROLE_ADMIN))
		return;
	(void)text_format(path, sizeof(path), "/rules/%s/end", visit->part);
	html_open(html, "p", "class", "acts", HTML_END);
	acts_write_link(visit, html, path, PHRASE("End the rule…"));
	html_close(html, "p");
}

static void write_attributes(
	const struct visit *visit, struct html *html, const struct form *values)
{
	for (size_t i = 0; i < RULE_ATTRIBUTE_COUNT; i++)
		page_field(visit, html, rule_attribute_names[i], rule_attribute_names[i],
			form_get(values, rule_attribute_names[i]), say(visit, PHRASE("any")));
}

static bool read_time(const char *text, char moment[MOMENT_SIZE], const char **time_out)
{
	*time_out = NULL;
	if (text[0] == '\0')
		return true;
	*time_out = moment;
	return moment_parse(text, moment);
}

static bool read_priority(const char *text, int64_t *priority_out)
{
	bool is_negative = text[0] == '-';
	uint64_t number = 0;

	if (text[0] != '\0' && !text_parse_uint(text + (is_negative ? 1 : 0), 0,
				       RULE_CHANGE_PRIORITY_MAX, &number))
		return false;
	*priority_out = is_negative ? -(int64_t)number : (int64_t)number;
	return true;
}

static bool read_timeout(const char *text, uint64_t *timeout_s_out)
{
	uint64_t milliseconds = 0;

	*timeout_s_out = 0;
	if (text_equals(text, "never"))
		return true;
	if (!text_parse_duration(text, &milliseconds) || milliseconds < 1000)
		return false;
	*timeout_s_out = milliseconds / 1000;
	return true;
}

struct rule_texts {
	char from[MOMENT_SIZE];
	char to[MOMENT_SIZE];
};

static bool read_definition(
	const struct form *form, struct rule_definition *definition, struct rule_texts *texts)
{
	for (size_t i = 0; i < RULE_ATTRIBUTE_COUNT; i++) {
		const char *value = form_text(form, rule_attribute_names[i]);

		definition->values[i] = value[0] == '\0' ? NULL : value;
	}
	return read_timeout(form_text(form, "timeout"), &definition->timeout_s) &&
	       read_priority(form_text(form, "priority"), &definition->priority) &&
	       read_time(form_text(form, "valid_from"), texts->from, &definition->valid_from) &&
	       read_time(form_text(form, "valid_to"), texts->to, &definition->valid_to);
}

static const char definition_hint[] =
	"timeout: 30m or never; priority: a whole number; times: 2026-01-31T18:30:00Z";

/* What is asked about, in the address. */
static void begin_question(const struct visit *visit, struct html *html, const char *path)
{
	char action[PATH_SIZE * 2];

	(void)text_format(action, sizeof(action), "%s%s", visit->context->prefix, path);
	html_open(html, "form", "method", "get", "action", action, "class", "filters", HTML_END);
}

static void end_question(const struct visit *visit, struct html *html, const char *english)
{
	html_open(html, "button", "type", "submit", HTML_END);
	page_say(visit, html, english);
	html_close(html, "button");
	html_close(html, "form");
}

static void write_definition(const struct visit *visit, struct html *html)
{
	const struct form *query = visit->query;

	begin_question(visit, html, "/rules/add");
	write_attributes(visit, html, query);
	page_field(visit, html, "timeout", PHRASE("Timeout, or never"), form_get(query, "timeout"),
		"30m");
	page_field(visit, html, "priority", PHRASE("Priority"), form_get(query, "priority"), "0");
	page_field(visit, html, "valid_from", PHRASE("Valid from"), form_get(query, "valid_from"),
		time_hint);
	page_field(visit, html, "valid_to", PHRASE("Valid to"), form_get(query, "valid_to"),
		time_hint);
	end_question(visit, html, PHRASE("Show what it changes"));
}

/* The second step: what it changes, and a form that says yes to exactly this. */
static void confirm_add(const struct visit *visit, struct html *html, const struct json *effect)
{
	static const char *const names[] = { "timeout", "priority", "valid_from", "valid_to" };

	page_element(visit, html, "h2", NULL, PHRASE("What it changes"));
	rule_effect_page_write(visit, html, effect);
	record_page_write(visit, html, "rule", json_get(effect, "rule"));
	page_form(visit, html, "/rules/add");
	for (size_t i = 0; i < RULE_ATTRIBUTE_COUNT; i++)
		page_hidden(html, rule_attribute_names[i],
			form_text(visit->query, rule_attribute_names[i]));
	for (size_t i = 0; i < ARRAY_LENGTH(names); i++)
		page_hidden(html, names[i], form_text(visit->query, names[i]));
	rule_effect_page_hide_shown(html, effect);
	acts_write_reason(visit, html);
	page_form_end(visit, html, "primary", PHRASE("Add"));
}

/* NULL: the visit has been answered. */
static struct json *read_effect_of_adding(struct visit *visit)
{
	struct rule_definition definition = { .priority = 0 };
	struct rule_texts texts;
	struct json *effect = NULL;
	struct error error = { .text = "" };

	if (!read_definition(visit->query, &definition, &texts)) {
		respond_problem(visit, 400, PHRASE("This cannot be asked for."), definition_hint);
		return NULL;
	}
	struct db *db = ledger_open(visit);
	if (db == NULL)
		return NULL;
	enum result result = rule_effect_of_adding(db, &definition, &effect, &error);
	ledger_close(visit, result, &error);
	if (result != RESULT_OK)
		respond_failure(visit, result, &error);
	return effect;
}

void rule_page_ask_add(struct visit *visit)
{
	bool is_asked = visit->is_api || form_text(visit->query, "timeout")[0] != '\0';
	struct json *effect = is_asked ? read_effect_of_adding(visit) : NULL;

	if (is_asked && effect == NULL)
		return;
	if (visit->is_api) {
		respond_json(visit, 200, &effect);
		return;
	}
	struct html *html = page_begin(visit, PHRASE("Add a timeout rule"));
	page_element(visit, html, "p", NULL,
		PHRASE("It decides orders that are created while it is valid. "
		       "Orders that are there "
		       "already keep their deadline. The most specific rule wins, then the higher "
		       "priority, then the younger one."));
	write_definition(visit, html);
	if (effect != NULL)
		confirm_add(visit, html, effect);
	page_end(visit, 200, &html);
	json_destroy(&effect);
}

void rule_page_add(struct visit *visit)
{
	struct rule_definition definition = { .priority = 0 };
	struct act_rule_add request = { .definition = &definition,
		.reason = form_text(visit->form, "reason") };
	struct rule_texts texts;
	struct act_result outcome = { .words = "" };
	struct error error = { .text = "" };
	struct ledger_actor actor;
	char path[PATH_SIZE];

	if (!read_definition(visit->form, &definition, &texts)) {
		respond_problem(visit, 400, PHRASE("This cannot be asked for."), definition_hint);
		return;
	}
	if (!rule_effect_page_read_shown(visit, &request.shown) || !ledger_actor(visit, &actor))
		return;
	struct db *db = ledger_open(visit);
	if (db == NULL)
		return;
	enum result result = act_add_rule(db, &request, &actor.actor, &outcome, &error);
	(void)text_format(path, sizeof(path), "/rules/%" PRIu64, outcome.made_id);
	ledger_answer(
		visit, "rule_add", outcome.made_id > 0 ? path : "/rules", result, &outcome, &error);
}

/* NULL: the visit has been answered. */
static struct json *read_effect_of_ending(struct visit *visit)
{
	char moment[MOMENT_SIZE];
	const char *end = NULL;
	struct json *effect = NULL;
	struct error error = { .text = "" };
	uint64_t id = 0;

	if (!acts_read_id(visit, &id))
		return NULL;
	if (!read_time(form_text(visit->query, "end"), moment, &end)) {
		respond_problem(visit, 400, PHRASE("This cannot be asked for."), time_hint);
		return NULL;
	}
	struct db *db = ledger_open(visit);
	if (db == NULL)
		return NULL;
	enum result result = rule_effect_of_ending(db, id, end, &effect, &error);
	ledger_close(visit, result, &error);
	if (result != RESULT_OK)
		respond_failure(visit, result, &error);
	return effect;
}

void rule_page_ask_end(struct visit *visit)
{
	struct json *effect = read_effect_of_ending(visit);
	const char *end = form_text(visit->query, "end");
	char path[PATH_SIZE];

	if (effect == NULL)
		return;
	if (visit->is_api) {
		respond_json(visit, 200, &effect);
		return;
	}
	struct html *html = page_begin(visit, PHRASE("End a timeout rule"));
	record_page_write(visit, html, "rule", json_get(effect, "rule"));
	page_element(visit, html, "p", NULL,
		PHRASE("Orders that are created after the end are decided by the "
		       "other rules. Orders "
		       "that are there already keep their deadline."));
	(void)text_format(path, sizeof(path), "/rules/%s/end", visit->part);
	begin_question(visit, html, path);
	page_field(visit, html, "end", PHRASE("End; empty: now"), end, time_hint);
	end_question(visit, html, PHRASE("Show what it changes"));
	page_element(visit, html, "h2", NULL, PHRASE("What it changes"));
	rule_effect_page_write(visit, html, effect);
	page_form(visit, html, path);
	page_hidden(html, "end", end);
	rule_effect_page_hide_shown(html, effect);
	acts_write_reason(visit, html);
	if (end[0] != '\0')
		html_element(html, "p", NULL, end);
	page_form_end(visit, html, "primary", PHRASE("End the rule"));
	page_end(visit, 200, &html);
	json_destroy(&effect);
}

void rule_page_end(struct visit *visit)
{
	struct act_rule_end request = { .reason = form_text(visit->form, "reason") };
	struct act_result outcome = { .words = "" };
	struct error error = { .text = "" };
	struct ledger_actor actor;
	char moment[MOMENT_SIZE];
	char path[PATH_SIZE];

	if (!acts_read_id(visit, &request.rule_id))
		return;
	if (!read_time(form_text(visit->form, "end"), moment, &request.end)) {
		respond_problem(visit, 400, PHRASE("This cannot be asked for."), time_hint);
		return;
	}
	if (!rule_effect_page_read_shown(visit, &request.shown) || !ledger_actor(visit, &actor))
		return;
	struct db *db = ledger_open(visit);
	if (db == NULL)
		return;
	enum result result = act_end_rule(db, &request, &actor.actor, &outcome, &error);
	(void)text_format(path, sizeof(path), "/rules/%" PRIu64, request.rule_id);
	ledger_answer(visit, "rule_end", path, result, &outcome, &error);
}

static void write_winner(
	const struct visit *visit, struct html *html, const struct rule_match *match)
{
	char id[NUMBER_SIZE];
	char length[INSTANT_DURATION_SIZE];

	html_open(html, "p", "class", "notice good", "role", "status", HTML_END);
	if (match->rule_id == 0) {
		page_say(visit, html,
			PHRASE("No rule matches: such an order has no deadline by rule."));
	} else {
		(void)text_format(id, sizeof(id), "%" PRIu64, match->rule_id);
		page_say(visit, html, PHRASE("The rule that wins:"));
		html_text(html, " ");
		page_link_to(visit, html, "/rules/", id, id);
		instant_format_duration(match->timeout_ms, length);
		html_textf(
			html, " – %s", match->has_timeout ? length : say(visit, PHRASE("never")));
	}
	html_close(html, "p");
}

static void answer_json(struct visit *visit, const struct rule_match *match)
{
	struct json *root = json_create_object();

	json_set_id(root, "rule_id", match->rule_id);
	json_set_bool(root, "has_timeout", match->has_timeout);
	json_set_int(root, "timeout_ms", (int64_t)match->timeout_ms);
	respond_json(visit, 200, &root);
}

static enum result find_winner(
	struct visit *visit, struct db *db, struct rule_match *match, struct error *error)
{
	struct rule_attributes attributes = { 0 };
	struct rules *rules = NULL;

	for (size_t i = 0; i < RULE_ATTRIBUTE_COUNT; i++)
		if (!text_copy(attributes.values[i], RULE_ATTRIBUTE_SIZE,
			    form_text(visit->query, rule_attribute_names[i])))
			return error_set(RESULT_PERMANENT, error, "%s: the text is too long",
				rule_attribute_names[i]);
	rules_create(0, &rules);
	enum result result = rules_find(rules, db, &attributes, match, error);
	rules_destroy(&rules);
	return result;
}

void rule_page_test(struct visit *visit)
{
	struct rule_match match = { .rule_id = 0 };
	struct error error = { .text = "" };

	struct db *db = ledger_open(visit);
	if (db == NULL)
		return;
	enum result result = find_winner(visit, db, &match, &error);
	ledger_close(visit, result, &error);
	if (result != RESULT_OK) {
		respond_failure(visit, result, &error);
		return;
	}
	if (visit->is_api) {
		answer_json(visit, &match);
		return;
	}
	struct html *html = page_begin(visit, PHRASE("Which rule would win?"));
	begin_question(visit, html, "/rules/test");
	write_attributes(visit, html, visit->query);
	end_question(visit, html, PHRASE("Ask"));
	write_winner(visit, html, &match);
	page_end(visit, 200, &html);
}
