#include "demo/stock/api.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"
#include "common/io/db.h"
#include "common/io/json.h"
#include "demo/shared/reply.h"
#include "demo/shared/switches.h"
#include "demo/stock/ledger.h"
#include "demo/stock/request.h"

enum {
	SMALL_BODY_MAX = 4096,
	STOCK_PREFIX_LENGTH = sizeof("/v1/stock/") - 1,
};

/* Places in api_metrics. */
enum {
	METRIC_CALLS,
	METRIC_MOVEMENTS,
	METRIC_MISBEHAVED,
};

/* Places of the results in the series of METRIC_MOVEMENTS, for each kind. */
enum movement_result {
	MOVEMENT_APPLIED,
	MOVEMENT_REPEATED,
	MOVEMENT_REFUSED,
	MOVEMENT_RESULTS,
};

static const char *const call_series[] = { "kind=\"restore\"", "kind=\"reserve\"", NULL };
static const char *const movement_series[] = { "kind=\"restore\",result=\"applied\"",
	"kind=\"restore\",result=\"repeated\"", "kind=\"restore\",result=\"refused\"",
	"kind=\"reserve\",result=\"applied\"", "kind=\"reserve\",result=\"repeated\"",
	"kind=\"reserve\",result=\"refused\"", NULL };

const struct metric_family api_metrics[] = {
	[METRIC_CALLS] = { .type = METRIC_TYPE_COUNTER,
		.name = "lapse_stock_calls_total",
		.help = "Requests to move stock.",
		.series = call_series },
	[METRIC_MOVEMENTS] = { .type = METRIC_TYPE_COUNTER,
		.name = "lapse_stock_movements_total",
		.help = "Movements asked for, by what became of them.",
		.series = movement_series },
	[METRIC_MISBEHAVED] = { .type = METRIC_TYPE_COUNTER,
		.name = "lapse_stock_misbehaved_total",
		.help = "Requests answered wrongly on purpose." },
	METRIC_END,
};

static void count_movements(enum ledger_kind kind, const struct request *request)
{
	static const enum movement_result results[] = {
		[LEDGER_OUTCOME_OPEN] = MOVEMENT_REFUSED,
		[LEDGER_OUTCOME_APPLIED] = MOVEMENT_APPLIED,
		[LEDGER_OUTCOME_REPEATED] = MOVEMENT_REPEATED,
		[LEDGER_OUTCOME_SHORT] = MOVEMENT_REFUSED,
		[LEDGER_OUTCOME_UNKNOWN_SKU] = MOVEMENT_REFUSED,
		[LEDGER_OUTCOME_REUSED] = MOVEMENT_REFUSED,
	};

	for (size_t i = 0; i < request->count; i++)
		metrics_add(&api_metrics[METRIC_MOVEMENTS],
			(size_t)kind * MOVEMENT_RESULTS +
				(size_t)results[request->moves[i].outcome],
			1);
}

static void answer_error(struct httpd_answer *answer, enum result result, const struct error *error)
{
	/* A lost race may be won by the same request later, like a server that is away. */
	unsigned int status = result == RESULT_PERMANENT ? 500 : 503;

	log_warn(log_event("request_failed"), log_uint("status", status),
		log_text("error", error->text));
	reply(answer, status, (int)status, error->text);
}

static bool has_database(const struct api *api, struct httpd_answer *answer)
{
	if (db_is_connected(api->db))
		return true;
	reply(answer, 503, 503, "the database is away");
	return false;
}

/* Moves the movements whose SKU is meant to fail behind the others; gives the number of those. */
static size_t put_failing_last(const struct misbehave *misbehave, struct request *request)
{
	size_t good = request->count;

	for (size_t i = 0; i < good;) {
		if (misbehave_find_status(misbehave, request->moves[i].sku_id) == 0) {
			i++;
			continue;
		}
		struct ledger_move failing = request->moves[i];
		request->moves[i] = request->moves[--good];
		request->moves[good] = failing;
	}
	return good;
}

static void move_stock(struct api *api, enum ledger_kind kind, struct request *request,
	size_t count, struct httpd_answer *answer)
{
	struct error error = { 0 };
	enum result result = RESULT_OK;

	if (!has_database(api, answer))
		return;
	if (count > 0)
		result = ledger_apply(api->db, kind, request->moves, count, &error);
	if (result != RESULT_OK) {
		answer_error(answer, result, &error);
		return;
	}
	count_movements(kind, request);
	request_answer_outcomes(answer, request);
}

/* A list with failing SKUs is done in part, a single movement fails with the status. */
static void move_stock_except(struct api *api, struct request *request, struct httpd_answer *answer)
{
	size_t good = put_failing_last(&api->misbehave, request);

	if (good < request->count)
		metrics_add(&api_metrics[METRIC_MISBEHAVED], 0, 1);
	if (good == request->count || request->is_batch) {
		move_stock(api, LEDGER_KIND_RESTORE, request, good, answer);
		return;
	}
	(void)switches_fail_for(&api->misbehave, request->moves[0].sku_id, answer);
}

static void misbehave(struct api *api, struct request *request, struct httpd_answer *answer)
{
	bool works = false;

	if (switches_misbehave(&api->misbehave, answer, &works))
		metrics_add(&api_metrics[METRIC_MISBEHAVED], 0, 1);
	if (works)
		move_stock_except(api, request, answer);
}

static void handle_restores(
	void *context, const struct httpd_request *http, struct httpd_answer *answer)
{
	struct request request = { 0 };
	struct error error = { 0 };

	metrics_add(&api_metrics[METRIC_CALLS], LEDGER_KIND_RESTORE, 1);
	if (request_read(http, "restores", &request, &error) != RESULT_OK)
		reply(answer, 400, 400, error.text);
	else
		misbehave(context, &request, answer);
	request_clear(&request);
}

static void handle_reserves(
	void *context, const struct httpd_request *http, struct httpd_answer *answer)
{
	struct request request = { 0 };
	struct error error = { 0 };

	metrics_add(&api_metrics[METRIC_CALLS], LEDGER_KIND_RESERVE, 1);
	if (request_read(http, "reserves", &request, &error) != RESULT_OK)
		reply(answer, 400, 400, error.text);
	else
		move_stock(context, LEDGER_KIND_RESERVE, &request, request.count, answer);
	request_clear(&request);
}

/* The SKU in the path; NULL and an answer when it is none. */
static const char *find_sku_in_path(const struct httpd_request *http, struct httpd_answer *answer)
{
	const char *sku_id = http->path + STOCK_PREFIX_LENGTH;

	if (text_is_key(sku_id, strlen(sku_id), TEXT_KEY_MAX))
		return sku_id;
	reply(answer, 404, 404, "no SKU");
	return NULL;
}

static void answer_stock(struct httpd_answer *answer, const char *sku_id, int64_t quantity)
{
	struct json *root = json_create_object();

	json_set_int(root, "code", REQUEST_CODE_OK);
	json_set_text(root, "sku_id", sku_id);
	json_set_int(root, "quantity", quantity);
	reply_json(answer, 200, &root);
}

static void handle_get_sku(
	void *context, const struct httpd_request *http, struct httpd_answer *answer)
{
	struct api *api = context;
	const char *sku_id = find_sku_in_path(http, answer);
	struct error error = { 0 };
	int64_t quantity = 0;

	if (sku_id == NULL || !has_database(api, answer))
		return;
	enum result result = ledger_find_stock(api->db, sku_id, &quantity, &error);
	if (result == RESULT_OK)
		answer_stock(answer, sku_id, quantity);
	else if (result == RESULT_NONE)
		reply(answer, 404, 404, "unknown SKU");
	else
		answer_error(answer, result, &error);
}

static void handle_put_sku(
	void *context, const struct httpd_request *http, struct httpd_answer *answer)
{
	struct api *api = context;
	const char *sku_id = find_sku_in_path(http, answer);
	struct json *root = NULL;
	struct error error = { 0 };
	int64_t quantity = -1;

	if (sku_id == NULL || !has_database(api, answer))
		return;
	enum result result = json_parse(http->body, http->body_size, SMALL_BODY_MAX, &root, &error);
	bool is_valid = result == RESULT_OK && json_get_int(root, "quantity", &quantity) &&
			quantity >= 0 && quantity <= UINT32_MAX;
	json_destroy(&root);
	if (!is_valid) {
		reply(answer, 400, 400, "quantity is no whole number from 0");
		return;
	}
	result = ledger_set_stock(api->db, sku_id, (uint32_t)quantity, &error);
	if (result == RESULT_OK)
		answer_stock(answer, sku_id, quantity);
	else
		answer_error(answer, result, &error);
}

/* Takes the list over. */
static void answer_list(struct httpd_answer *answer, const char *name, enum result result,
	struct json **list, const struct error *error)
{
	struct json *root = NULL;

	if (result != RESULT_OK) {
		answer_error(answer, result, error);
		json_destroy(list);
		return;
	}
	root = json_create_object();
	json_set_int(root, "code", REQUEST_CODE_OK);
	json_adopt(root, name, list);
	reply_json(answer, 200, &root);
}

static void handle_list_stock(
	void *context, const struct httpd_request *http, struct httpd_answer *answer)
{
	struct api *api = context;
	const char *after = httpd_query(http, "after");
	struct json *list = NULL;
	struct error error = { 0 };

	if (!has_database(api, answer))
		return;
	enum result result = ledger_list_stock(api->db, after == NULL ? "" : after, &list, &error);
	answer_list(answer, "stock", result, &list, &error);
}

static void handle_list_moves(
	void *context, const struct httpd_request *http, struct httpd_answer *answer)
{
	struct api *api = context;
	const char *order_no = httpd_query(http, "order_no");
	struct json *list = NULL;
	struct error error = { 0 };

	if (order_no == NULL || !text_is_key(order_no, strlen(order_no), TEXT_KEY_MAX)) {
		reply(answer, 400, 400, "order_no is missing or no key");
		return;
	}
	if (!has_database(api, answer))
		return;
	enum result result = ledger_list_moves(api->db, order_no, &list, &error);
	answer_list(answer, "ledger", result, &list, &error);
}

static void set_counts(struct json *object, enum ledger_kind kind)
{
	static const char *const names[] = { "applied", "repeated", "refused" };

	json_set_int(object, "calls", (int64_t)metrics_count(&api_metrics[METRIC_CALLS], kind));
	for (size_t i = 0; i < MOVEMENT_RESULTS; i++)
		json_set_int(object, names[i],
			(int64_t)metrics_count(&api_metrics[METRIC_MOVEMENTS],
				(size_t)kind * MOVEMENT_RESULTS + i));
}

/* The counts of restores stand at the top, since they are what everybody asks for. */
static void handle_calls(
	void *context, const struct httpd_request *http, struct httpd_answer *answer)
{
	struct json *root = json_create_object();
	struct json *reserves = json_create_object();

	(void)context;
	(void)http;
	json_set_int(root, "code", REQUEST_CODE_OK);
	set_counts(root, LEDGER_KIND_RESTORE);
	json_set_int(
		root, "misbehaved", (int64_t)metrics_count(&api_metrics[METRIC_MISBEHAVED], 0));
	set_counts(reserves, LEDGER_KIND_RESERVE);
	json_adopt(root, "reserves", &reserves);
	reply_json(answer, 200, &root);
}

static void handle_get_misbehave(
	void *context, const struct httpd_request *http, struct httpd_answer *answer)
{
	const struct api *api = context;

	(void)http;
	switches_answer(&api->misbehave, answer);
}

static void handle_set_misbehave(
	void *context, const struct httpd_request *http, struct httpd_answer *answer)
{
	struct api *api = context;

	switches_change(&api->misbehave, http, answer);
}

const struct httpd_route api_routes[] = {
	{ "POST", "/v1/stock/restores", handle_restores },
	{ "POST", "/v1/stock/reserves", handle_reserves },
	{ "GET", "/v1/stock", handle_list_stock },
	{ "GET", "/v1/stock/*", handle_get_sku },
	{ "PUT", "/v1/stock/*", handle_put_sku },
	{ "GET", "/v1/ledger", handle_list_moves },
	{ "GET", "/v1/calls", handle_calls },
	{ "GET", "/v1/misbehave", handle_get_misbehave },
	{ "POST", "/v1/misbehave", handle_set_misbehave },
	{ NULL, NULL, NULL },
};
