#include "ctl/order.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/text.h"
#include "common/base/ulid.h"
#include "common/order/audit.h"
#include "common/order/close.h"
#include "common/order/extension.h"
#include "common/order/order.h"
#include "ctl/consent.h"
#include "ctl/moment.h"
#include "ctl/question.h"
#include "ctl/session.h"
#include "ctl/table.h"

enum {
	REASON_MIN = 5, /* characters */
	REASON_MAX = 500,
	CONFIRM_CHARACTERS = 4, /* of the order number, typed instead of "yes" */
	JSON_SIZE = 128,
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

static size_t count_characters(const char *text)
{
	size_t count = 0;

	for (; *text != '\0'; text++)
		if (((unsigned char)*text & 0xC0) != 0x80)
			count++;
	return count;
}

/* A reason that is given has the right length. */
static bool has_good_reason(const struct session *session, bool is_needed)
{
	const char *reason = option_text(session->options, OPTION_WHY);
	size_t characters = reason == NULL ? 0 : count_characters(reason);

	if ((reason == NULL && !is_needed) ||
		(characters >= REASON_MIN && characters <= REASON_MAX))
		return true;
	output_complain("--reason needs %d to %d characters: why?", REASON_MIN, REASON_MAX);
	return false;
}

/* ---- cancel */

/* One cancel, and what its audit row needs. */
struct cancel {
	const struct session *session;
	const char *order_no;
	char request_id[ULID_SIZE];
	struct order_detail detail; /* as it was when it was asked about */
};

static void describe(const struct order_detail *detail, const char *status, char json[JSON_SIZE])
{
	(void)text_format(json, JSON_SIZE, "{\"status\":\"%s\",\"expire_time\":%s%s%s}", status,
		detail->expire_time[0] == '\0' ? "" : "\"",
		detail->expire_time[0] == '\0' ? "null" : detail->expire_time,
		detail->expire_time[0] == '\0' ? "" : "\"");
}

static enum result record(const struct cancel *cancel, struct db *db, const char *outcome,
	const char *problem, struct error *error)
{
	const struct audit_actor actor = consent_actor(cancel->session, cancel->request_id);
	bool is_done = problem == NULL;
	char before[JSON_SIZE];
	char after[JSON_SIZE];
	const struct audit_act act = { .action = "cancel",
		.target_type = "order",
		.target_id = cancel->order_no,
		.reason_text = option_text(cancel->session->options, OPTION_WHY),
		.before_json = before,
		.after_json = is_done ? after : NULL,
		.result = outcome,
		.error = problem };

	describe(&cancel->detail, is_done ? "UNPAID" : cancel->detail.status, before);
	describe(&cancel->detail, "CLOSED", after);
	return audit_record(db, &actor, &act, error);
}

/* In the transaction of the close. */
static enum result record_close(void *context, struct db *db, struct close_order *const *orders,
	size_t count, struct error *error)
{
	(void)orders;
	REQUIRE(count == 1);
	return record(context, db, "ok", NULL, error);
}

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
	const char *end =
		cancel->order_no + (length > CONFIRM_CHARACTERS ? length - CONFIRM_CHARACTERS : 0);

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

/* What is not closed leaves an audit row, too, but for an order that is not there. */
static int refuse(const struct cancel *cancel, const char *outcome, const char *why, int status)
{
	struct error error = { .text = "" };
	enum result result = record(cancel, cancel->session->db, outcome, why, &error);

	output_complain("order %s: %s", cancel->order_no, why);
	return result == RESULT_OK ? status : session_fail(cancel->session, result, &error);
}

static int tell(struct cancel *cancel, const struct close_order *order)
{
	switch (order->outcome) {
	case CLOSE_OUTCOME_CLOSED:
		output_say(&cancel->session->output, "order %s is CLOSED (audit request %s)",
			cancel->order_no, cancel->request_id);
		return EXIT_STATUS_OK;
	case CLOSE_OUTCOME_ALREADY_PAID:
		(void)text_copy(cancel->detail.status, sizeof(cancel->detail.status), "PAID");
		return refuse(cancel, "refused", "it is PAID", EXIT_STATUS_REFUSED);
	case CLOSE_OUTCOME_ALREADY_CLOSED:
		(void)text_copy(cancel->detail.status, sizeof(cancel->detail.status), "CLOSED");
		return refuse(cancel, "conflict", "it is CLOSED already", EXIT_STATUS_CONFLICT);
	case CLOSE_OUTCOME_NOT_FOUND:
		output_complain("there is no order %s", cancel->order_no);
		return EXIT_STATUS_NOT_FOUND;
	case CLOSE_OUTCOME_LOCKED:
	case CLOSE_OUTCOME_NOT_DUE:
		output_complain("order %s: somebody holds it, try again", cancel->order_no);
		return EXIT_STATUS_TRY_AGAIN;
	case CLOSE_OUTCOME_FAILED:
		return refuse(cancel, "error", order->error, EXIT_STATUS_FAILED);
	}
	return EXIT_STATUS_FAILED;
}

static int close_confirmed(struct cancel *cancel)
{
	struct close_report report = { .transactions = 0 };
	const struct close_request request = { .reason = CLOSE_REASON_OPERATOR,
		.source = CLOSE_SOURCE_CONSOLE,
		.report = &report,
		.record = record_close,
		.record_context = cancel };
	struct close_order order = { .outcome = CLOSE_OUTCOME_LOCKED };
	struct error error = { .text = "" };

	(void)text_copy(order.order_no, sizeof(order.order_no), cancel->order_no);
	enum result result = close_orders(cancel->session->db, &request, &order, 1, &error);
	return result == RESULT_OK ? tell(cancel, &order)
				   : session_fail(cancel->session, result, &error);
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
	struct error error = { .text = "" };
	char request_id[ULID_SIZE];

	ulid_generate(request_id);
	const struct audit_actor actor = consent_actor(session, request_id);
	enum result result = extension_run(session->db, extension, &actor, &extended, &error);
	if (result == RESULT_OK)
		return print_extension(session, extension->order_no, &extended);
	int status = session_fail(session, result, &error);
	return result == RESULT_CONFLICT ? EXIT_STATUS_REFUSED : status;
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
