#include "gateway/creations.h"

#include <assert.h>
#include <stdlib.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/order/creation_set.h"
#include "gateway/context.h"
#include "gateway/counts.h"
#include "gateway/intake.h"
#include "gateway/order_request.h"
#include "gateway/order_view.h"
#include "gateway/orders.h"
#include "gateway/respond.h"

static_assert((int)HTTPD_GROUP_MAX <= (int)CREATION_SET_MAX &&
		      (int)HTTPD_GROUP_MAX <= (int)ORDER_VIEW_MAX,
	"a group is one set at most");

/* One order from its request to its answer. */
struct call {
	struct order_request *order;
	struct httpd_answer *answer;
	uint64_t start_us;
};

/* What a group has taken and not created yet. */
struct creations {
	struct call calls[HTTPD_GROUP_MAX];
	size_t count;
};

static void answer_created(
	const struct creation *creation, struct json **root_adopt, struct httpd_answer *answer)
{
	char location[HTTPD_HEADER_VALUE_SIZE];

	(void)text_format(location, sizeof(location), "/v1/orders/%s", creation->order_no);
	httpd_add_header(answer, "Location", location);
	respond_json(answer, 201, root_adopt);
}

static void read_created(struct context *context, struct db *db, const struct call *call)
{
	const struct creation *creation = &call->order->creation;
	struct error error = { .text = "" };
	struct json *root = NULL;
	enum result result = order_view_read_new(db, &creation, 1, &root, &error);

	if (result == RESULT_OK)
		answer_created(creation, &root, call->answer);
	else
		intake_fail(context, call->answer, "read order", result, &error);
}

static void create(struct context *context, const struct call *call)
{
	const struct creation *creation = &call->order->creation;
	enum creation_outcome outcome = CREATION_OUTCOME_CREATED;
	struct error error = { .text = "" };
	struct db *db = intake_connect(context, call->answer);

	if (db == NULL)
		return;
	enum result result = creation_run(db, creation, &outcome, &error);
	if (result != RESULT_OK) {
		intake_fail(context, call->answer, "create order", result, &error);
		return;
	}
	switch (outcome) {
	case CREATION_OUTCOME_CREATED:
		read_created(context, db, call);
		return;
	case CREATION_OUTCOME_SAME:
		orders_answer(context, db, creation->order_no, call->answer);
		return;
	case CREATION_OUTCOME_DIFFERENT:
		respond_problem(call->answer, 409, "order_exists",
			"this order number is taken by an order with other content");
		return;
	}
}

/* A timeout that the order does not bring along comes from the rules. */
static enum result find_timeout(const struct context *context, struct db *db,
	struct order_request *request, struct error *error)
{
	struct rule_match match;

	if (request->has_own_timeout)
		return RESULT_OK;
	enum result result = rules_find(context->rules, db, &request->attributes, &match, error);
	if (result != RESULT_OK)
		return result;
	request->creation.has_timeout = match.has_timeout;
	request->creation.timeout_ms = match.timeout_ms;
	request->creation.rule_id = match.rule_id;
	return RESULT_OK;
}

/* false: it has its answer. */
static bool accept_order(
	struct context *context, const struct httpd_request *request, const struct call *call)
{
	struct error error = { .text = "" };
	struct db *db = intake_begin(context, request, call->answer);

	if (db == NULL)
		return false;
	if (order_request_read(request->body, request->body_size, call->order, &error) !=
		RESULT_OK) {
		respond_problem(call->answer, 400, "bad_order", error.text);
		return false;
	}
	order_request_set_trace(call->order, httpd_header(request, "traceparent"));
	enum result result = find_timeout(context, db, call->order, &error);
	if (result != RESULT_OK)
		intake_fail(context, call->answer, "find the timeout", result, &error);
	return result == RESULT_OK;
}

static void finish(const struct call *call)
{
	counts_add_request(COUNTS_ROUTE_CREATE, call->answer->status, call->start_us);
	free(call->order);
}

void creations_handle(
	void *context, const struct httpd_request *request, struct httpd_answer *answer)
{
	struct context *gateway = context;
	struct creations *creations = gateway->creations;
	const struct call call = { memory_allocate(sizeof(*call.order)), answer, clock_now_us() };

	if (accept_order(gateway, request, &call)) {
		if (gateway->grouped != NULL) {
			creations->calls[creations->count++] = call;
			return;
		}
		create(gateway, &call);
	}
	finish(&call);
}

/* false: none of them was created. */
static bool create_set(struct context *context)
{
	const struct creations *creations = context->creations;
	const struct creation *orders[HTTPD_GROUP_MAX];
	struct json *roots[HTTPD_GROUP_MAX];
	struct error error = { .text = "" };

	for (size_t i = 0; i < creations->count; i++)
		orders[i] = &creations->calls[i].order->creation;
	enum result result = creation_set_run(context->grouped, orders, creations->count, &error);
	if (result != RESULT_OK) {
		log_debug(log_event("orders_taken_apart"), log_text("error", error.text));
		return false;
	}
	result = order_view_read_new(context->grouped, orders, creations->count, roots, &error);
	for (size_t i = 0; i < creations->count; i++) {
		struct httpd_answer *answer = creations->calls[i].answer;

		if (result == RESULT_OK)
			answer_created(orders[i], &roots[i], answer);
		else
			intake_fail(context, answer, "read order", result, &error);
	}
	return true;
}

void creations_settle(struct context *context)
{
	struct creations *creations = context->creations;
	bool are_created = creations->count > 1 && create_set(context);

	for (size_t i = 0; i < creations->count; i++) {
		if (!are_created)
			create(context, &creations->calls[i]);
		finish(&creations->calls[i]);
	}
	creations->count = 0;
}

void creations_create(struct creations **creations_out)
{
	*creations_out = memory_allocate(sizeof(**creations_out));
}

void creations_destroy(struct creations **creations)
{
	free(*creations);
	*creations = NULL;
}
