#include "gateway/payments.h"

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/text.h"
#include "common/io/json.h"
#include "gateway/context.h"
#include "gateway/counts.h"
#include "gateway/intake.h"
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
	/* The only genuine notice that has to come again, until its money goes back. */
	if (payment->outcome == PAYMENT_OUTCOME_UNKNOWN_ORDER && !payment->is_refunded)
		respond_problem(answer, 404, "unknown_order",
			"there is no such order (yet); the notice is recorded");
	else
		answer_outcome(answer, outcome, payment->is_repeated);
}

/* Once answered with success it is committed. */
static void apply(struct context *context, const struct notice *notice, struct httpd_answer *answer)
{
	struct payment_result payment = { .is_repeated = false };
	struct error error = { .text = "" };
	struct db *db = intake_connect(context, answer);

	if (db == NULL)
		return;
	enum result result = payment_apply(db, &notice->payment, &payment, &error);
	if (result == RESULT_OK)
		answer_result(notice, &payment, answer);
	else
		intake_fail(context, answer, "apply notice", result, &error);
}

static void take_notice(
	struct context *context, const struct httpd_request *request, struct httpd_answer *answer)
{
	const char *merchant_id = context->settings->merchant_id;
	struct notice notice;
	struct error error = { .text = "" };

	if (notice_read(request->body, request->body_size, &notice, &error) != RESULT_OK) {
		respond_problem(answer, 400, "bad_notice", error.text);
		return;
	}
	if (merchant_id != NULL && !text_equals(merchant_id, notice.merchant_id)) {
		log_notice("notice_of_other_merchant", &notice, "");
		respond_problem(answer, 403, "other_merchant", "merchant_id is not ours");
		return;
	}
	if (!notice.is_paid) {
		log_notice("notice_ignored", &notice, "IGNORED");
		answer_outcome(answer, "IGNORED", false);
		return;
	}
	apply(context, &notice, answer);
}

static bool is_signed(const struct context *context, const struct httpd_request *request)
{
	const struct notice_secrets secrets = { context->settings->notify_secret,
		context->settings->notify_secret_old };

	return notice_is_signed(httpd_header(request, "X-Lapse-Signature"), request->body,
		request->body_size, &secrets, clock_epoch_ms() / 1000);
}

/* The signature is looked at before anything of the body is. */
static void notify(
	struct context *context, const struct httpd_request *request, struct httpd_answer *answer)
{
	if (!intake_open(context, request, answer))
		return;
	if (context->settings->notify_secret == NULL) {
		httpd_add_header(answer, "Retry-After", "60");
		respond_problem(answer, 503, "not_configured", "LAPSE_NOTIFY_SECRET is not set");
		return;
	}
	if (is_signed(context, request)) {
		take_notice(context, request, answer);
		return;
	}
	counts_add_auth_failure(COUNTS_AUTH_SIGNATURE);
	if (log_is_worth_repeating(&context->refused_count))
		log_warn(log_event("notice_refused"),
			log_text("request_id", respond_request_id(answer)),
			log_uint("count", context->refused_count));
	respond_problem(
		answer, 401, "bad_signature", "X-Lapse-Signature is missing, stale or wrong");
}

void payments_notify(
	void *context, const struct httpd_request *request, struct httpd_answer *answer)
{
	uint64_t start_us = clock_now_us();

	notify(context, request, answer);
	counts_add_request(COUNTS_ROUTE_NOTIFY, answer->status, start_us);
}
