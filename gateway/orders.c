#include "gateway/orders.h"

#include <string.h>

#include "common/base/clock.h"
#include "common/base/text.h"
#include "common/io/db.h"
#include "common/order/close.h"
#include "common/report/close_report.h"
#include "gateway/context.h"
#include "gateway/counts.h"
#include "gateway/intake.h"
#include "gateway/order_view.h"
#include "gateway/respond.h"

static const char orders_path[] = "/v1/orders/";
static const char cancel_ending[] = "/cancel";

void orders_answer(
	struct context *context, struct db *db, const char *order_no, struct httpd_answer *answer)
{
	struct error error = { .text = "" };
	struct json *root = NULL;
	enum result result = order_view_read(db, order_no, &root, &error);

	if (result == RESULT_OK)
		respond_json(answer, 200, &root);
	else if (result == RESULT_NONE)
		respond_problem(answer, 404, "not_found", "there is no such order");
	else
		intake_fail(context, answer, "read order", result, &error);
}

/* The order number between the prefix and the ending of the path; else it is answered: 404. */
static bool take_order_no(const char *path, const char *ending, char order_no[TEXT_KEY_SIZE],
	struct httpd_answer *answer)
{
	const char *start = path + strlen(orders_path);
	size_t size = strlen(start);
	size_t ending_size = strlen(ending);

	if (size > ending_size && text_equals(start + size - ending_size, ending) &&
		text_is_key(start, size - ending_size, TEXT_KEY_MAX)) {
		memcpy(order_no, start, size - ending_size);
		order_no[size - ending_size] = '\0';
		return true;
	}
	respond_problem(answer, 404, "not_found", "there is no such order");
	return false;
}

void orders_read(void *context, const struct httpd_request *request, struct httpd_answer *answer)
{
	uint64_t start_us = clock_now_us();
	struct db *db = intake_begin(context, request, answer);
	char order_no[TEXT_KEY_SIZE];

	if (db != NULL && take_order_no(request->path, "", order_no, answer))
		orders_answer(context, db, order_no, answer);
	counts_add_request(COUNTS_ROUTE_READ, answer->status, start_us);
}

static void answer_cancel(struct context *context, struct db *db, const struct close_order *order,
	struct httpd_answer *answer)
{
	switch (order->outcome) {
	case CLOSE_OUTCOME_CLOSED:
		orders_answer(context, db, order->order_no, answer);
		return;
	case CLOSE_OUTCOME_ALREADY_PAID:
		respond_final(answer, "order_paid", "PAID");
		return;
	case CLOSE_OUTCOME_ALREADY_CLOSED:
		respond_final(answer, "order_closed", "CLOSED");
		return;
	case CLOSE_OUTCOME_NOT_FOUND:
		respond_problem(answer, 404, "not_found", "there is no such order");
		return;
	case CLOSE_OUTCOME_LOCKED:
	case CLOSE_OUTCOME_NOT_DUE:
		respond_try_again(answer, "the order is being changed by somebody else");
		return;
	case CLOSE_OUTCOME_FAILED:
		respond_problem(answer, 500, "order_stuck", "the order cannot be closed");
		return;
	}
}

static void cancel(
	struct context *context, struct db *db, const char *order_no, struct httpd_answer *answer)
{
	struct close_report report = { .transactions = 0 };
	const struct close_request request = {
		.reason = CLOSE_REASON_USER_CANCEL, .source = CLOSE_SOURCE_API, .report = &report
	};
	struct close_order order = { .outcome = CLOSE_OUTCOME_LOCKED };
	struct error error = { .text = "" };

	(void)text_copy(order.order_no, sizeof(order.order_no), order_no);
	enum result result = close_orders(db, &request, &order, 1, &error);
	if (result == RESULT_OK)
		result = close_report_alert(db, &order, 1, &error);
	if (result != RESULT_OK) {
		intake_fail(context, answer, "cancel order", result, &error);
		return;
	}
	close_report_count(&request, &order, 1);
	answer_cancel(context, db, &order, answer);
}

void orders_cancel(void *context, const struct httpd_request *request, struct httpd_answer *answer)
{
	uint64_t start_us = clock_now_us();
	struct db *db = intake_begin(context, request, answer);
	char order_no[TEXT_KEY_SIZE];

	if (db != NULL && take_order_no(request->path, cancel_ending, order_no, answer))
		cancel(context, db, order_no, answer);
	counts_add_request(COUNTS_ROUTE_CANCEL, answer->status, start_us);
}
