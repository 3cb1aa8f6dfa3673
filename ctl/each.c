#include "ctl/each.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/base/ulid.h"
#include "ctl/answer.h"
#include "ctl/consent.h"
#include "ctl/session.h"
#include "ctl/table.h"

enum {
	EACH_MAX = 200
};

static const struct table_column columns[] = {
	{ "id", TABLE_KIND_TEXT },
	{ "result", TABLE_KIND_TEXT },
	{ "error", TABLE_KIND_TEXT },
};

/* ids has room for all operands.  false, and a complaint: one is no id, or there are too many. */
static bool read_ids(const struct session *session, const struct each_act *act, uint64_t *ids)
{
	if (session->operand_count == 0 || session->operand_count > EACH_MAX) {
		output_complain("%s takes the ids of 1 to %d %ss", act->verb, EACH_MAX, act->what);
		return false;
	}
	for (size_t i = 0; i < session->operand_count; i++) {
		if (text_parse_uint(session->operands[i], 1, UINT64_MAX, &ids[i]))
			continue;
		output_complain("\"%.40s\" is no id", session->operands[i]);
		return false;
	}
	return true;
}

static int act_on(const struct session *session, const struct each_act *act, uint64_t id,
	const char *request_id, struct table *table)
{
	const struct audit_actor actor = consent_actor(session, request_id);
	struct act_result answer = { .words = "" };
	struct error error = { .text = "" };
	char number[24];
	enum result result = act->carry_out(session, id, &actor, &answer, &error);
	const char *const values[] = { number,
		result == RESULT_OK ? act_outcome_names[answer.outcome] : "unknown",
		result != RESULT_OK       ? error.text
		: answer.words[0] == '\0' ? NULL
					  : answer.words };

	(void)text_format(number, sizeof(number), "%llu", (unsigned long long)id);
	table_add(table, values);
	if (result == RESULT_OK)
		return answer_status(answer.outcome);
	return result == RESULT_TEMPORARY ? EXIT_STATUS_TRY_AGAIN : EXIT_STATUS_FAILED;
}

static int act_on_all(
	const struct session *session, const struct each_act *act, const uint64_t *ids)
{
	char request_id[ULID_SIZE];
	int status = EXIT_STATUS_OK;
	struct table *table = table_create(columns, ARRAY_LENGTH(columns));

	ulid_generate(request_id);
	for (size_t i = 0; i < session->operand_count && status != EXIT_STATUS_TRY_AGAIN; i++)
		status = answer_find_worse(status, act_on(session, act, ids[i], request_id, table));
	table_print(table, &session->output, stdout);
	output_say(&session->output, "audit request %s", request_id);
	table_destroy(&table);
	return status;
}

static int connect_and_act(
	const struct session *session, const struct each_act *act, const uint64_t *ids)
{
	int status = session_connect_to_schema(session);

	if (status != EXIT_STATUS_OK)
		return status;
	if (option_is_given(session->options, OPTION_DRY_RUN)) {
		output_say(&session->output, "dry run: nothing was changed");
		return EXIT_STATUS_OK;
	}
	status = consent_ask(session, "%s %zu %s%s?", act->verb, session->operand_count, act->what,
		session->operand_count == 1 ? "" : "s");
	return status == EXIT_STATUS_OK ? act_on_all(session, act, ids) : status;
}

int each_run(const struct session *session, const struct each_act *act)
{
	uint64_t *ids = memory_allocate_array(session->operand_count, sizeof(*ids));
	int status = EXIT_STATUS_USAGE;

	if (read_ids(session, act, ids) && consent_is_possible(session))
		status = connect_and_act(session, act, ids);
	free(ids);
	return status;
}
