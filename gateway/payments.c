#include "gateway/payments.h"

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/io/db.h"
#include "common/io/json.h"
#include "gateway/context.h"
#include "gateway/counts.h"
#include "gateway/notice.h"
#include "gateway/respond.h"
#include "gateway/settings.h"

static void answer_outcome(struct httpd_answer *answer, const char *outcome, bool is_repeated)
{
	struct json *root = json_create_object();

	json_set_int(root, "code", 0);
	json_set_text(root, "outcome", outcome);
	if (is_repeated)
		json_set_bool(root, "repeated", true);
	respond_json(answer, 200, &root);
}

static void log_notice(const char *event, const struct notice *notice, const char *outcome)
{
	log_info(log_event(event), log_text("order_no", notice->payment.order_no),
		log_text("channel", notice->payment.channel),
		log_text("trade_no", notice->payment.trade_no), log_text("state", notice->state),
		log_text("outcome", outcome));
}

static void answer_result(const struct notice *notice, const struct payment_result *payment,
	struct httpd_answer *answer)
{
	const char *outcome = payment_outcome_names[payment->outcome];

	counts_add_payment(payment->outcome, payment->is_repeated);
	if (payment->is_different)
		log_notice("notice_differs", notice, outcome);
	else if (payment->outcome != PAYMENT_OUTCOME_APPLIED && !payment->is_repeated)
		log_notice("payment_not_applied", notice, outcome);
	/* The only genuine notice that has to come again. */
	if (payment->outcome == PAYMENT_OUTCOME_UNKNOWN_ORDER)
		respond_problem(answer, 404, "unknown_order",
			"there is no such order (yet); the notice is recorded");
	else
		answer_outcome(answer, outcome, payment->is_repeated);
}

/* Once answered with success it is committed. */
static void apply(
	const struct context *context, const struct notice *notice, struct httpd_answer *answer)
{
	struct payment_result payment = { .is_repeated = false };
	struct error error = { .text = "" };
	enum result result = db_ensure_connected(context->db, &error);

	if (result == RESULT_OK)
		result = payment_apply(context->db, &notice->payment, &payment, &error);
	if (result == RESULT_OK) {
		answer_result(notice, &payment, answer);
		return;
	}
	log_warn(log_event("notice_failed"), log_text("order_no", notice->payment.order_no),
		log_text("trade_no", notice->payment.trade_no), log_text("error", error.text));
	if (result == RESULT_PERMANENT)
		respond_problem(answer, 500, "internal", "the notice could not be recorded");
	else
		respond_try_again(answer, "the database is away or busy");
}

static void take_notice(const struct context *context, const struct httpd_request *request,
	struct httpd_answer *answer)
{
	const struct gateway_settings *settings = context->settings;
	struct notice notice;
	struct error error = { .text = "" };

	if (notice_read(request, &notice, &error) != RESULT_OK) {
		respond_problem(answer, 400, "bad_notice", error.text);
		return;
	}
	if (settings->merchant_id != NULL &&
		!text_equals(settings->merchant_id, notice.merchant_id)) {
		log_notice("notice_of_other_merchant", &notice, "");
		respond_problem(answer, 403, "other_merchant", "merchant_id is not ours");
		return;
	}
	if (!text_equals(notice.state, "paid")) {
		log_notice("notice_ignored", &notice, "IGNORED");
		answer_outcome(answer, "IGNORED", false);
		return;
	}
	apply(context, &notice, answer);
}

static void check_signature(const struct context *context, const struct httpd_request *request,
	struct httpd_answer *answer)
{
	const struct gateway_settings *settings = context->settings;

	if (settings->notify_secret == NULL) {
		respond_problem(answer, 503, "not_configured", "LAPSE_NOTIFY_SECRET is not set");
		return;
	}
	if (!notice_is_signed(request, settings->notify_secret, settings->notify_secret_old,
		    clock_epoch_ms() / 1000)) {
		counts_add_auth_failure(COUNTS_AUTH_SIGNATURE);
		log_warn(log_event("notice_refused"),
			log_text("request_id", respond_request_id(answer)));
		respond_problem(answer, 401, "bad_signature",
			"X-Lapse-Signature is missing, stale or wrong");
		return;
	}
	take_notice(context, request, answer);
}

void payments_notify(
	void *context, const struct httpd_request *request, struct httpd_answer *answer)
{
	uint64_t start_us = clock_now_us();

	respond_add_request_id(request, answer);
	check_signature(context, request, answer);
	counts_add_request(COUNTS_ROUTE_NOTIFY, answer->status, clock_now_us() - start_us);
}
