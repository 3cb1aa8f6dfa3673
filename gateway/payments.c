#include "gateway/payments.h"

#include <assert.h>
#include <stdlib.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/io/json.h"
#include "common/order/payment_set.h"
#include "gateway/context.h"
#include "gateway/counts.h"
#include "gateway/intake.h"
#include "gateway/notice.h"
#include "gateway/respond.h"
#include "gateway/settings.h"

static_assert((int)HTTPD_GROUP_MAX <= (int)PAYMENT_SET_MAX, "a group is one set at most");

/* One notice from its request to its answer. */
struct call {
	struct notice notice;
	struct httpd_answer *answer;
	uint64_t start_us;
};

/* What a group has taken and not applied yet. */
struct payments {
	struct call calls[HTTPD_GROUP_MAX];
	size_t count;
};

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
static void apply(struct context *context, const struct call *call)
{
	struct payment_result payment = { .is_repeated = false };
	struct error error = { .text = "" };
	struct db *db = intake_connect(context, call->answer);

	if (db == NULL)
		return;
	enum result result = payment_apply(db, &call->notice.payment, &payment, &error);
	if (result == RESULT_OK)
		answer_result(&call->notice, &payment, call->answer);
	else
		intake_fail(context, call->answer, "apply notice", result, &error);
}

/* false: it is no payment and has its answer. */
static bool take_notice(const struct context *context, const struct httpd_request *request,
	struct httpd_answer *answer, struct notice *notice)
{
	const char *merchant_id = context->settings->merchant_id;
	struct error error = { .text = "" };

	if (notice_read(request->body, request->body_size, notice, &error) != RESULT_OK) {
		respond_problem(answer, 400, "bad_notice", error.text);
		return false;
	}
	if (merchant_id != NULL && !text_equals(merchant_id, notice->merchant_id)) {
		log_notice("notice_of_other_merchant", notice, "");
		respond_problem(answer, 403, "other_merchant", "merchant_id is not ours");
		return false;
	}
	if (!notice->is_paid) {
		log_notice("notice_ignored", notice, "IGNORED");
		answer_outcome(answer, "IGNORED", false);
	}
	return notice->is_paid;
}

static bool is_signed(const struct context *context, const struct httpd_request *request)
{
	const struct notice_secrets secrets = { context->settings->notify_secret,
		context->settings->notify_secret_old };

	return notice_is_signed(httpd_header(request, "X-Lapse-Signature"), request->body,
		request->body_size, &secrets, clock_epoch_ms() / 1000);
}

static void refuse_signature(struct context *context, struct httpd_answer *answer)
{
	counts_add_auth_failure(COUNTS_AUTH_SIGNATURE);
	if (log_is_worth_repeating(&context->refused_count))
		log_warn(log_event("notice_refused"),
			log_text("request_id", respond_request_id(answer)),
			log_uint("count", context->refused_count));
	respond_problem(
		answer, 401, "bad_signature", "X-Lapse-Signature is missing, stale or wrong");
}

/* The signature is looked at before anything of the body is.  false: it has its answer. */
static bool accept_notice(struct context *context, const struct httpd_request *request,
	struct httpd_answer *answer, struct notice *notice)
{
	respond_add_request_id(request, answer);
	if (context->settings->notify_secret == NULL) {
		httpd_add_header(answer, "Retry-After", "60");
		respond_problem(answer, 503, "not_configured", "LAPSE_NOTIFY_SECRET is not set");
		return false;
	}
	if (!is_signed(context, request)) {
		refuse_signature(context, answer);
		return false;
	}
	return take_notice(context, request, answer, notice);
}

static void finish(const struct call *call)
{
	counts_add_request(COUNTS_ROUTE_NOTIFY, call->answer->status, call->start_us);
}

void payments_notify(
	void *context, const struct httpd_request *request, struct httpd_answer *answer)
{
	struct context *gateway = context;
	struct payments *payments = gateway->payments;
	struct call call = { .answer = answer, .start_us = clock_now_us() };

	if (accept_notice(gateway, request, answer, &call.notice)) {
		if (gateway->grouped != NULL) {
			payments->calls[payments->count++] = call;
			return;
		}
		apply(gateway, &call);
	}
	finish(&call);
}

/* Marks those that need nothing more.  When it fails, all are applied one by one. */
static void apply_set(struct context *context, struct payment_entry entries[HTTPD_GROUP_MAX])
{
	const struct payments *payments = context->payments;
	struct error error = { .text = "" };

	for (size_t i = 0; i < payments->count; i++)
		entries[i] = (struct payment_entry){ &payments->calls[i].notice.payment, false };
	if (payments->count > 1 &&
		payment_set_apply(context->grouped, entries, payments->count, &error) != RESULT_OK)
		log_debug(log_event("notices_taken_apart"), log_text("error", error.text));
}

void payments_settle(struct context *context)
{
	static const struct payment_result applied = { .outcome = PAYMENT_OUTCOME_APPLIED };
	struct payments *payments = context->payments;
	struct payment_entry entries[HTTPD_GROUP_MAX] = { { .notice = NULL } };

	apply_set(context, entries);
	for (size_t i = 0; i < payments->count; i++) {
		struct call *call = &payments->calls[i];

		if (entries[i].is_applied)
			answer_result(&call->notice, &applied, call->answer);
		else
			apply(context, call);
		finish(call);
	}
	payments->count = 0;
}

void payments_create(struct payments **payments_out)
{
	*payments_out = memory_allocate(sizeof(**payments_out));
}

void payments_destroy(struct payments **payments)
{
	free(*payments);
	*payments = NULL;
}
