#include "ctl/order.h"

#include <stdio.h>
#include <string.h>

#include "common/base/moment.h"
#include "common/base/text.h"
#include "common/base/ulid.h"
#include "common/order/act_order.h"
#include "common/order/extension.h"
#include "common/order/order.h"
#include "ctl/answer.h"
#include "ctl/consent.h"
#include "ctl/question.h"
#include "ctl/session.h"
#include "ctl/table.h"

enum {
	DONE_SIZE = 128
};

/* NULL, and a complaint: the command line names no single order. */
static const char *read_order_no(const struct session *session, const char *verb)
{
	const char *order_no = session->operand_count == 1 ? session->operands[0] : "";

	if (text_is_key(order_no, strlen(order_no), TEXT_KEY_MAX))
		return order_no;
	output_complain("%s takes one order number", verb);
	return NULL;
}

/* A reason that is given has the right length. */
static bool has_good_reason(const struct session *session, bool is_needed)
{
	const char *reason = option_text(session->options, OPTION_WHY);

	if ((reason == NULL && !is_needed) || act_is_reason(reason))
		return true;
	output_complain("--reason needs %d to %d characters: why?", ACT_REASON_MIN, ACT_REASON_MAX);
	return false;
}

/* ---- cancel */

/* One cancel. */
struct cancel {
	const struct session *session;
	const char *order_no;
	char request_id[ULID_SIZE];
	struct order_detail detail; /* as it was when it was asked about */
};

/* Before anything is opened. */
static bool can_confirm(const struct session *session)
{
	if (option_is_given(session->options, OPTION_CONFIRM) ||
		option_is_given(session->options, OPTION_DRY_RUN) ||
		question_can_ask(session->options))
		return true;
	output_complain("there is no terminal to ask on: --confirm ORDER_NO is needed");
	return false;
}

/* The last characters of the number: nobody types them by habit. */
static int confirm(const struct cancel *cancel)
{
	const struct option_set *options = cancel->session->options;
	const char *confirmed = option_text(options, OPTION_CONFIRM);
	size_t length = strlen(cancel->order_no);
	const char *end = cancel->order_no +
			  (length > ACT_CONFIRM_CHARACTERS ? length - ACT_CONFIRM_CHARACTERS : 0);

	if (confirmed != NULL && text_equals(confirmed, cancel->order_no))
		return EXIT_STATUS_OK;
	if (confirmed != NULL) {
		output_complain("--confirm is not the number of the order: nothing was changed");
		return EXIT_STATUS_REFUSED;
	}
	if (question_ask(end, "Close order %s?", cancel->order_no))
		return EXIT_STATUS_OK;
	output_complain("nothing was changed");
	return EXIT_STATUS_REFUSED;
}

static int close_confirmed(const struct cancel *cancel)
{
	const struct session *session = cancel->session;
	const struct act_close request = { .order_no = cancel->order_no,
		.typed = cancel->order_no,
		.reason = option_text(session->options, OPTION_WHY) };
	const struct audit_actor actor = consent_actor(session, cancel->request_id);
	struct act_close_effect effect;
	struct act_result answer;
	struct error error = { .text = "" };
	char done[DONE_SIZE];
	enum result result =
		act_close_order(session->db, &request, &actor, &effect, &answer, &error);

	if (result != RESULT_OK)
		return session_fail(session, result, &error);
	(void)text_format(done, sizeof(done), "order %s is CLOSED", cancel->order_no);
	return answer_tell(session, &answer, done);
}

int order_cancel_run(const struct session *session)
{
	struct cancel cancel = { .session = session, .order_no = read_order_no(session, "cancel") };
	struct error error = { .text = "" };

	if (cancel.order_no == NULL || !has_good_reason(session, true) || !can_confirm(session))
		return EXIT_STATUS_USAGE;
	ulid_generate(cancel.request_id);
	int status = session_connect_to_schema(session);
	if (status != EXIT_STATUS_OK)
		return status;
	(void)text_copy(cancel.detail.order_no, sizeof(cancel.detail.order_no), cancel.order_no);
	enum result result = order_read_details(session->db, &cancel.detail, 1, &error);
	if (result != RESULT_OK)
		return session_fail(session, result, &error);
	if (!cancel.detail.is_present) {
		output_complain("there is no order %s", cancel.order_no);
		return EXIT_STATUS_NOT_FOUND;
	}
	if (option_is_given(session->options, OPTION_DRY_RUN)) {
		output_say(&session->output, "dry run: order %s is %s", cancel.order_no,
			cancel.detail.status);
		return EXIT_STATUS_OK;
	}
	status = confirm(&cancel);
	return status == EXIT_STATUS_OK ? close_confirmed(&cancel) : status;
}

/* ---- extend */

static int print_extension(const struct session *session, const char *order_no,
	const struct extension_result *extension)
{
	static const struct table_column columns[] = { { "order_no", TABLE_KIND_TEXT },
		{ "status", TABLE_KIND_TEXT }, { "expire_time_before", TABLE_KIND_TEXT },
		{ "expire_time", TABLE_KIND_TEXT } };
	const char *const values[] = { order_no, extension->status, extension->before,
		extension->after };
	struct table *table = table_create(columns, ARRAY_LENGTH(columns));

	table_add(table, values);
	table_print(table, &session->output, stdout);
	table_destroy(&table);
	return EXIT_STATUS_OK;
}

static int extend(const struct session *session, const struct extension *extension)
{
	struct extension_result extended;
	struct act_result answer;
	struct error error = { .text = "" };
	char request_id[ULID_SIZE];

	ulid_generate(request_id);
	const struct audit_actor actor = consent_actor(session, request_id);
	enum result result = act_extend(session->db, extension, &actor, &extended, &answer, &error);
	if (result != RESULT_OK)
		return session_fail(session, result, &error);
	return answer.outcome == ACT_OUTCOME_DONE
		       ? print_extension(session, extension->order_no, &extended)
		       : answer_tell(session, &answer, "");
}

/* Either --until or --by. */
static bool read_extension(
	const struct session *session, struct extension *extension, char moment[MOMENT_SIZE])
{
	const char *until = option_text(session->options, OPTION_UNTIL);
	bool has_by = option_is_given(session->options, OPTION_BY);

	if ((until != NULL) == has_by) {
		output_complain("order extend takes either --until or --by");
		return false;
	}
	extension->by_ms = option_number(session->options, OPTION_BY, 0);
	if (until == NULL)
		return true;
	extension->until = moment;
	if (moment_parse(until, moment))
		return true;
	output_complain(
		"--until: \"%.40s\" is not a time in UTC such as 2026-01-31T18:30:00Z", until);
	return false;
}

int order_extend_run(const struct session *session)
{
	struct extension extension = { .order_no = read_order_no(session, "order extend"),
		.reason = option_text(session->options, OPTION_WHY) };
	char moment[MOMENT_SIZE];

	if (extension.order_no == NULL || !read_extension(session, &extension, moment) ||
		!has_good_reason(session, false) || !consent_is_possible(session))
		return EXIT_STATUS_USAGE;
	int status = session_connect_to_schema(session);
	if (status != EXIT_STATUS_OK)
		return status;
	if (option_is_given(session->options, OPTION_DRY_RUN)) {
		output_say(
			&session->output, "dry run: order %s was not extended", extension.order_no);
		return EXIT_STATUS_OK;
	}
	status = consent_ask(session, "Move the deadline of order %s?", extension.order_no);
	return status == EXIT_STATUS_OK ? extend(session, &extension) : status;
}
