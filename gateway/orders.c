#include "gateway/orders.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/io/db.h"
#include "common/order/close.h"
#include "common/report/close_report.h"
#include "gateway/access.h"
#include "gateway/context.h"
#include "gateway/counts.h"
#include "gateway/order_request.h"
#include "gateway/order_view.h"
#include "gateway/respond.h"

static const char orders_path[] = "/v1/orders/";
static const char cancel_ending[] = "/cancel";

/* MySQL's trouble is told to the caller as such, and once to the log. */
static void answer_failure(struct httpd_answer *answer, const char *what, enum result result,
	const struct error *error)
{
	if (result == RESULT_TEMPORARY || result == RESULT_CONFLICT) {
		log_warn(log_event("request_failed"), log_text("what", what),
			log_text("request_id", respond_request_id(answer)),
			log_text("error", error->text));
		respond_try_again(answer, "the database is away or busy");
		return;
	}
	log_error(log_event("request_failed"), log_text("what", what),
		log_text("request_id", respond_request_id(answer)), log_text("error", error->text));
	respond_problem(answer, 500, "internal", "the request could not be carried out");
}

/* The order as it is now, with the status. */
static void answer_order(const struct context *context, const char *order_no, unsigned int status,
	struct httpd_answer *answer)
{
	struct error error = { .text = "" };
	struct json *root = NULL;
	enum result result = order_view_read(context->db, order_no, &root, &error);

	if (result == RESULT_OK)
		respond_json(answer, status, &root);
	else if (result == RESULT_NONE)
		respond_problem(answer, 404, "not_found", "there is no such order");
	else
		answer_failure(answer, "read order", result, &error);
}

/* Connected, admitted, with a request id; false: answered already. */
static bool begin(const struct context *context, const struct httpd_request *request,
	struct httpd_answer *answer)
{
	struct error error = { .text = "" };

	respond_add_request_id(request, answer);
	if (!access_admit(context->access, request, answer))
		return false;
	enum result result = db_ensure_connected(context->db, &error);
	if (result != RESULT_OK)
		answer_failure(answer, "connect", RESULT_TEMPORARY, &error);
	return result == RESULT_OK;
}

static void create(const struct context *context, const struct httpd_request *request,
	struct httpd_answer *answer)
{
	struct creation *creation = memory_allocate(sizeof(*creation));
	enum creation_outcome outcome = CREATION_OUTCOME_CREATED;
	struct error error = { .text = "" };
	enum result result = order_request_read(context, request, creation, &error);

	if (result == RESULT_PERMANENT) {
		respond_problem(answer, 400, "bad_order", error.text);
		goto done;
	}
	if (result == RESULT_OK)
		result = creation_run(context->db, creation, &outcome, &error);
	if (result != RESULT_OK) {
		answer_failure(answer, "create order", result, &error);
		goto done;
	}
	switch (outcome) {
	case CREATION_OUTCOME_CREATED:
		answer_order(context, creation->order_no, 201, answer);
		break;
	case CREATION_OUTCOME_SAME:
		answer_order(context, creation->order_no, 200, answer);
		break;
	case CREATION_OUTCOME_DIFFERENT:
		respond_problem(answer, 409, "order_exists",
			"this order number is taken by an order with other content");
		break;
	}
done:
	free(creation);
}

void orders_create(void *context, const struct httpd_request *request, struct httpd_answer *answer)
{
	uint64_t start_us = clock_now_us();

	if (begin(context, request, answer))
		create(context, request, answer);
	counts_add_request(COUNTS_ROUTE_CREATE, answer->status, clock_now_us() - start_us);
}

/* The order number between the prefix and the ending of the path; false: it is none. */
static bool take_order_no(const char *path, const char *ending, char order_no[TEXT_KEY_SIZE])
{
	size_t size = strlen(path) - strlen(orders_path);
	size_t ending_size = strlen(ending);

	if (size <= ending_size ||
		!text_equals(path + strlen(orders_path) + size - ending_size, ending) ||
		!text_is_key(path + strlen(orders_path), size - ending_size, TEXT_KEY_MAX))
		return false;
	memcpy(order_no, path + strlen(orders_path), size - ending_size);
	order_no[size - ending_size] = '\0';
	return true;
}

void orders_read(void *context, const struct httpd_request *request, struct httpd_answer *answer)
{
	uint64_t start_us = clock_now_us();
	char order_no[TEXT_KEY_SIZE];

	if (begin(context, request, answer)) {
		if (take_order_no(request->path, "", order_no))
			answer_order(context, order_no, 200, answer);
		else
			respond_problem(answer, 404, "not_found", "there is no such order");
	}
	counts_add_request(COUNTS_ROUTE_READ, answer->status, clock_now_us() - start_us);
}

static void answer_cancel(
	const struct context *context, const struct close_order *order, struct httpd_answer *answer)
{
	switch (order->outcome) {
	case CLOSE_OUTCOME_CLOSED:
		answer_order(context, order->order_no, 200, answer);
		return;
	case CLOSE_OUTCOME_ALREADY_PAID:
		respond_problem(answer, 409, "order_paid", "the order is PAID");
		return;
	case CLOSE_OUTCOME_ALREADY_CLOSED:
		respond_problem(answer, 409, "order_closed", "the order is CLOSED");
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

static void cancel(const struct context *context, const char *order_no, struct httpd_answer *answer)
{
	struct close_report report = { .transactions = 0 };
	const struct close_request request = { CLOSE_REASON_USER_CANCEL, CLOSE_SOURCE_API,
		&report };
	struct close_order order = { .outcome = CLOSE_OUTCOME_LOCKED };
	struct error error = { .text = "" };

	(void)text_copy(order.order_no, sizeof(order.order_no), order_no);
	enum result result = close_orders(context->db, &request, &order, 1, &error);
	if (result == RESULT_OK)
		result = close_report_alert(context->db, &order, 1, &error);
	if (result != RESULT_OK) {
		answer_failure(answer, "cancel order", result, &error);
		return;
	}
	close_report_count(&request, &order, 1);
	answer_cancel(context, &order, answer);
}

void orders_cancel(void *context, const struct httpd_request *request, struct httpd_answer *answer)
{
	uint64_t start_us = clock_now_us();
	char order_no[TEXT_KEY_SIZE];

	if (begin(context, request, answer)) {
		if (take_order_no(request->path, cancel_ending, order_no))
			cancel(context, order_no, answer);
		else
			respond_problem(answer, 404, "not_found", "there is no such order");
	}
	counts_add_request(COUNTS_ROUTE_CANCEL, answer->status, clock_now_us() - start_us);
}
