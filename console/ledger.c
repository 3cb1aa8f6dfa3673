#include "console/ledger.h"

#include <inttypes.h>
#include <string.h>

#include "common/base/log.h"
#include "common/base/text.h"
#include "common/base/ulid.h"
#include "common/io/db.h"
#include "common/io/json.h"
#include "common/order/act.h"
#include "common/service/database.h"
#include "console/counts.h"
#include "console/page.h"
#include "console/record_page.h"
#include "console/respond.h"

enum {
	PATH_SIZE = 512
};

static const unsigned int outcome_statuses[ACT_OUTCOME_COUNT] = {
	[ACT_OUTCOME_DONE] = 200,
	[ACT_OUTCOME_INVALID] = 400,
	[ACT_OUTCOME_FORBIDDEN] = 403,
	[ACT_OUTCOME_NOT_FOUND] = 404,
	[ACT_OUTCOME_CONFLICT] = 409,
	[ACT_OUTCOME_REFUSED] = 422,
	[ACT_OUTCOME_FAILED] = 500,
};

static const char *const outcome_words[ACT_OUTCOME_COUNT] = {
	[ACT_OUTCOME_DONE] = "",
	[ACT_OUTCOME_INVALID] = PHRASE("This cannot be asked for."),
	[ACT_OUTCOME_FORBIDDEN] = PHRASE("Your role may not do this."),
	[ACT_OUTCOME_NOT_FOUND] = PHRASE("There is no such row."),
	[ACT_OUTCOME_CONFLICT] =
		PHRASE("It is not as it was shown any more. Nothing was changed by this request."),
	[ACT_OUTCOME_REFUSED] = PHRASE("A rule says no. Nothing was changed."),
	[ACT_OUTCOME_FAILED] = PHRASE("It failed. Nothing was changed."),
};

struct db *ledger_open(struct visit *visit)
{
	struct database *database = visit->context->database;

	if (database_is_there(database))
		return database_db(database);
	httpd_add_header(visit->answer, "Retry-After", "2");
	respond_problem(visit, 503,
		PHRASE("The servers cannot tell at the moment. Nothing was lost; try again."),
		database_trouble(database));
	return NULL;
}

void ledger_close(struct visit *visit, enum result result, const struct error *error)
{
	struct database *database = visit->context->database;

	if (result == RESULT_TEMPORARY && !db_is_connected(database_db(database)))
		database_note(database, result, error);
}

static void fill_actor(const struct visit *visit, struct ledger_actor *actor_out)
{
	actor_out->actor = (struct audit_actor){
		.actor = visit->who.name[0] == '\0' ? "-" : visit->who.name,
		.role = act_role_names[visit->who.role],
		.auth = role_auth_names[visit->who.auth],
		.ip = visit->who.address,
		.request_id = actor_out->request_id,
	};
}

bool ledger_actor(struct visit *visit, struct ledger_actor *actor_out)
{
	const char *given = visit->is_api ? httpd_header(visit->request, "Idempotency-Key")
					  : form_get(visit->form, "request_id");

	if (given == NULL) {
		ulid_generate(actor_out->request_id);
	} else if (!text_is_key(given, strlen(given), sizeof(actor_out->request_id) - 1)) {
		respond_problem(visit, 400, PHRASE("The form cannot be read."),
			"Idempotency-Key: 1 to 64 letters, digits, '.', '_', ':' or '-'");
		return false;
	} else {
		(void)text_copy(actor_out->request_id, sizeof(actor_out->request_id), given);
	}
	fill_actor(visit, actor_out);
	return true;
}

static void write_note(struct visit *visit, const struct act_note *note)
{
	struct ledger_actor actor;
	struct error error = { .text = "" };

	ulid_generate(actor.request_id);
	fill_actor(visit, &actor);
	if (!database_is_there(visit->context->database))
		return;
	enum result result =
		act_write_note(database_db(visit->context->database), note, &actor.actor, &error);
	if (result != RESULT_OK)
		log_warn(log_event("note_not_written"), log_text("action", note->action),
			log_text("error", error.text));
	ledger_close(visit, result, &error);
}

void ledger_note_login(struct visit *visit)
{
	const struct act_note note = {
		.action = "login",
		.target_type = "user",
		.target_id = visit->who.name[0] == '\0' ? "-" : visit->who.name,
		.outcome = ACT_OUTCOME_REFUSED,
		.words = "wrong name, password or token",
	};

	log_warn(log_event("login_refused"), log_text("address", visit->who.address),
		log_text("method", role_auth_names[visit->who.auth]));
	write_note(visit, &note);
}

void ledger_note(
	struct visit *visit, const char *action, const char *target_type, const char *target_id)
{
	const struct act_note note = {
		.action = action,
		.target_type = target_type,
		.target_id = target_id,
		.outcome = ACT_OUTCOME_DONE,
	};

	counts_add_act(action, ACT_OUTCOME_DONE);
	write_note(visit, &note);
}

static void answer_json(struct visit *visit, const struct act_result *outcome)
{
	struct json *root = json_create_object();

	json_set_text(root, "outcome", act_outcome_names[outcome->outcome]);
	json_set_bool(root, "repeat", outcome->is_repeat);
	json_set_id(root, "audit_id", outcome->audit_id);
	if (outcome->made_id > 0)
		json_set_id(root, "id", outcome->made_id);
	respond_json(visit, 200, &root);
}

/* Somebody was faster: the page says what the row is now. */
static void answer_conflict(struct visit *visit, const struct act_result *outcome)
{
	unsigned int status = outcome_statuses[ACT_OUTCOME_CONFLICT];
	struct html *html = page_begin(visit, PHRASE("Changed meanwhile"));

	html_open(html, "section", "class", "notice bad", "role", "alert", HTML_END);
	html_element(html, "p", NULL, say(visit, outcome_words[ACT_OUTCOME_CONFLICT]));
	html_element(html, "p", "detail", outcome->words);
	html_close(html, "section");
	if (database_is_there(visit->context->database))
		record_page_write_now(visit, html, database_db(visit->context->database));
	page_end(visit, status, &html);
}

void ledger_answer(struct visit *visit, const char *action, const char *path, enum result result,
	const struct act_result *outcome, const struct error *error)
{
	char target[PATH_SIZE];

	ledger_close(visit, result, error);
	if (result != RESULT_OK) {
		counts_add_act(action, ACT_OUTCOME_FAILED);
		respond_failure(visit, result, error);
		return;
	}
	counts_add_act(action, outcome->outcome);
	if (outcome->outcome == ACT_OUTCOME_CONFLICT && !visit->is_api) {
		answer_conflict(visit, outcome);
		return;
	}
	if (outcome->outcome != ACT_OUTCOME_DONE) {
		respond_problem(visit, outcome_statuses[outcome->outcome],
			outcome_words[outcome->outcome], outcome->words);
		return;
	}
	if (visit->is_api) {
		answer_json(visit, outcome);
		return;
	}
	(void)text_format(target, sizeof(target), "%s%caudit=%" PRIu64, path,
		strchr(path, '?') == NULL ? '?' : '&', outcome->audit_id);
	respond_redirect(visit, target);
}
