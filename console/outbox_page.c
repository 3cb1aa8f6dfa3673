#include "console/outbox_page.h"

#include <inttypes.h>
#include <stdlib.h>

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/io/json.h"
#include "common/order/act_outbox.h"
#include "console/acts.h"
#include "console/counts.h"
#include "console/ledger.h"
#include "console/page.h"
#include "console/record_page.h"
#include "console/respond.h"

enum {
	NUMBER_SIZE = 24,
	PATH_SIZE = 128
};

void outbox_page_write_acts(const struct visit *visit, struct html *html, const struct json *record)
{
	const char *status = record_page_text(json_get(record, "outbox"), "status");
	char path[PATH_SIZE];

	if (!visit_may(visit, ROLE_OPERATOR) || text_equals(status, "NEW"))
		return;
	(void)text_format(path, sizeof(path), "/outbox/replay?id=%s", visit->part);
	html_open(html, "p", "class", "acts", HTML_END);
	acts_write_link(visit, html, path, PHRASE("Replay…"));
	html_close(html, "p");
}

void outbox_page_ask_replay(struct visit *visit)
{
	uint64_t ids[ACT_SELECTION_MAX];
	size_t count = 0;
	char number[NUMBER_SIZE];

	if (!acts_read_ids(visit, visit->query, ids, ACT_SELECTION_MAX, &count))
		return;
	struct html *html = page_begin(visit, PHRASE("Replay outbox rows"));
	(void)text_format(number, sizeof(number), "%zu", count);
	html_open(html, "p", HTML_END);
	page_fill(visit, html,
		PHRASE("{1} rows are selected. Each one that is SENT or FAILED is published again "
		       "with the same event id, by which receivers drop repeats."),
		number, NULL);
	html_close(html, "p");
	page_form(visit, html, "/outbox/replay");
	for (size_t i = 0; i < count; i++) {
		(void)text_format(number, sizeof(number), "%" PRIu64, ids[i]);
		page_hidden(html, "id", number);
	}
	acts_write_reason(visit, html);
	page_form_end(visit, html, "primary", PHRASE("Replay"));
	page_end(visit, 200, &html);
}

struct replay {
	uint64_t ids[ACT_SELECTION_MAX];
	struct act_result results[ACT_SELECTION_MAX];
	struct acts_row rows[ACT_SELECTION_MAX];
	size_t count;
};

static void carry_out(
	struct visit *visit, struct db *db, const struct ledger_actor *actor, struct replay *replay)
{
	const char *reason = form_get(visit->form, "reason");
	struct error error = { .text = "" };
	enum result result = RESULT_OK;

	if (reason != NULL && reason[0] == '\0')
		reason = NULL;
	for (size_t i = 0; i < replay->count; i++) {
		struct act_result *outcome = &replay->results[i];

		if (result == RESULT_OK)
			result = act_replay_outbox(
				db, replay->ids[i], reason, &actor->actor, outcome, &error);
		if (result == RESULT_OK)
			counts_add_act("replay", outcome->outcome);
		replay->rows[i] = (struct acts_row){ .id = replay->ids[i],
			.outcome = result == RESULT_OK ? act_outcome_names[outcome->outcome]
						       : "not tried",
			.words = result == RESULT_OK ? outcome->words : error.text,
			.audit_id = outcome->audit_id };
	}
	ledger_close(visit, result, &error);
	acts_answer_rows(visit, PHRASE("Replayed"), "/outbox/", replay->rows, replay->count);
}

void outbox_page_replay(struct visit *visit)
{
	struct replay *replay = memory_allocate(sizeof(*replay));
	struct ledger_actor actor;
	struct db *db = NULL;

	if (acts_read_ids(visit, visit->form, replay->ids, ACT_SELECTION_MAX, &replay->count) &&
		ledger_actor(visit, &actor) && (db = ledger_open(visit)) != NULL)
		carry_out(visit, db, &actor, replay);
	free(replay);
}
