#include "common/report/record.h"

#include <inttypes.h>
#include <string.h>

#include "common/base/compiler.h"
#include "common/base/text.h"
#include "common/io/db.h"
#include "common/io/json.h"
#include "common/order/act_task.h"
#include "common/report/record_order.h"
#include "common/report/record_table.h"

enum {
	SENTENCE_SIZE = 256,
	PAYMENT_KEY_MAX = 2 * TEXT_KEY_MAX
};

const char *const record_kind_names[] = { "task", "order", "outbox", "payment", "rule", "alert",
	"audit", NULL };

/* What is asked for; root is filled in. */
struct request {
	struct db *db;
	const char *id;
	uint64_t number; /* of id where it is one */
	bool is_unmasked;
	struct json *root;
};

static enum result add_one(const struct request *request, const char *name,
	const struct record_table *table, const char *where, struct error *error)
{
	const struct db_param param = db_uint(request->number);
	const struct record_query query = { table, where, &param, 1, request->is_unmasked };

	return record_add_row(request->root, name, request->db, &query, error);
}

static enum result add_alert(
	const struct request *request, const char *kind, const char *ref, struct error *error)
{
	const struct db_param params[] = { db_text(kind), db_text(ref) };
	const struct record_query query = { &record_alerts, "x.kind = ? AND x.ref = ?", params,
		ARRAY_LENGTH(params), request->is_unmasked };

	return record_add_row(request->root, "alert", request->db, &query, error);
}

/* The order number of what has been read; NULL: nothing was there. */
static const char *find_order_no(const struct request *request, const char *name)
{
	return json_get_text(json_get(request->root, name), "order_no");
}

static bool is_missing(const struct request *request, const char *name)
{
	return !json_is_object(json_get(request->root, name));
}

/* ---- task */

static void add_checks(const struct request *request, const struct act_checks *checks)
{
	struct json *object = json_create_object();

	json_set_bool(object, "order_is_final", checks->is_order_final);
	json_set_bool(object, "no_open_sibling", checks->has_no_open_sibling);
	json_set_bool(object, "refund_has_reference", checks->has_refund_reference);
	json_adopt(request->root, "checks", &object);
}

static void add_sentence(const struct request *request)
{
	const struct json *task = json_get(request->root, "task");
	const char *status = json_get_text(task, "status");
	char sentence[SENTENCE_SIZE];
	int64_t calls = 0;
	int64_t max_retries = 0;

	(void)json_get_int(task, "calls", &calls);
	(void)json_get_int(task, "max_retries", &max_retries);
	if (status != NULL && text_equals(status, "DEAD"))
		(void)text_format(sentence, sizeof(sentence),
			"it becomes PENDING and due now, with 5 more retries (%" PRId64
			" calls made, at most %" PRId64 " after that), and its alert is resolved",
			calls, max_retries + 5 + 1);
	else
		(void)text_format(sentence, sizeof(sentence),
			"nothing: it is %s, and only a DEAD task is requeued",
			status == NULL ? "not there" : status);
	json_set_text(request->root, "requeue", sentence);
}

static enum result read_task(const struct request *request, struct error *error)
{
	const struct act_resolve no_reason = { .task_id = request->number };
	struct act_checks checks;
	enum result result = add_one(request, "task", &record_tasks, "x.id = ?", error);

	if (result != RESULT_OK || is_missing(request, "task"))
		return result == RESULT_OK ? RESULT_NONE : result;
	result = record_add_order(request->root, request->db, find_order_no(request, "task"),
		request->number, request->is_unmasked, error);
	if (result == RESULT_OK)
		result = add_alert(request, "TASK_DEAD", request->id, error);
	if (result == RESULT_OK)
		result = record_add_audit(request->root, request->db, "task", request->id, error);
	if (result == RESULT_OK)
		result = act_check_resolve(request->db, &no_reason, &checks, error);
	if (result != RESULT_OK)
		return result;
	add_checks(request, &checks);
	add_sentence(request);
	return RESULT_OK;
}

/* ---- order */

static enum result read_order(const struct request *request, struct error *error)
{
	static const char of_order[] =
		"x.order_id = (SELECT o.id FROM t_order o WHERE o.order_no = ?) ORDER BY x.id";
	const struct db_param param = db_text(request->id);
	const struct record_query items = { &record_items, of_order, &param, 1,
		request->is_unmasked };
	enum result result = record_add_order(
		request->root, request->db, request->id, 0, request->is_unmasked, error);

	if (result != RESULT_OK || is_missing(request, "order"))
		return result == RESULT_OK ? RESULT_NONE : result;
	result = record_add_rows(request->root, "items", request->db, &items, error);
	if (result == RESULT_OK)
		result = record_add_timeline(request->root, request->db, request->id, error);
	if (result == RESULT_OK)
		result = add_alert(request, "ORDER_STUCK", request->id, error);
	if (result == RESULT_OK)
		record_add_why(request->root);
	return result == RESULT_OK
		       ? record_add_audit(request->root, request->db, "order", request->id, error)
		       : result;
}

/* ---- the others */

static enum result add_order_row(
	const struct request *request, const char *order_no, struct error *error)
{
	const struct db_param param = db_text(order_no);
	const struct record_query query = { &record_orders, "x.order_no = ?", &param, 1,
		request->is_unmasked };

	return record_add_row(request->root, "order", request->db, &query, error);
}

static enum result read_outbox(const struct request *request, struct error *error)
{
	enum result result = add_one(request, "outbox", &record_outbox, "x.id = ?", error);

	if (result != RESULT_OK || is_missing(request, "outbox"))
		return result == RESULT_OK ? RESULT_NONE : result;
	result = add_order_row(request, find_order_no(request, "outbox"), error);
	if (result == RESULT_OK)
		result = add_alert(request, "OUTBOX_FAILED", request->id, error);
	return result == RESULT_OK
		       ? record_add_audit(request->root, request->db, "outbox", request->id, error)
		       : result;
}

/* By id, or by "channel:trade_no": the first ":" ends the channel only if that finds something. */
static enum result find_payment(const struct request *request, struct error *error)
{
	const struct db_param param = db_text(request->id);
	const struct record_query by_trade = { &record_payments,
		"x.channel = SUBSTRING_INDEX(?, ':', 1) AND "
		"x.trade_no = SUBSTRING(?, LOCATE(':', ?) + 1)",
		(const struct db_param[]){ param, param, param }, 3, request->is_unmasked };

	if (request->number != 0)
		return add_one(request, "payment", &record_payments, "x.id = ?", error);
	return record_add_row(request->root, "payment", request->db, &by_trade, error);
}

static enum result read_payment(const struct request *request, struct error *error)
{
	enum result result = find_payment(request, error);

	if (result != RESULT_OK || is_missing(request, "payment"))
		return result == RESULT_OK ? RESULT_NONE : result;
	const struct json *payment = json_get(request->root, "payment");
	const struct db_param params[] = { db_text(json_get_text(payment, "channel")),
		db_text(json_get_text(payment, "trade_no")) };
	const struct record_query task = { &record_tasks,
		"x.idempotency_key = CONCAT('refund:', ?, ':', ?)", params, ARRAY_LENGTH(params),
		request->is_unmasked };
	result = add_order_row(request, find_order_no(request, "payment"), error);
	if (result == RESULT_OK)
		result = record_add_row(request->root, "task", request->db, &task, error);
	return result == RESULT_OK ? record_add_audit(request->root, request->db, "payment",
					     json_get_text(payment, "id"), error)
				   : result;
}

static enum result read_with_audit(const struct request *request, const char *name,
	const struct record_table *table, struct error *error)
{
	enum result result = add_one(request, name, table, "x.id = ?", error);

	if (result != RESULT_OK || is_missing(request, name))
		return result == RESULT_OK ? RESULT_NONE : result;
	return record_add_audit(request->root, request->db, name, request->id, error);
}

static enum result read_rule(const struct request *request, struct error *error)
{
	return read_with_audit(request, "rule", &record_rules, error);
}

static enum result read_alert(const struct request *request, struct error *error)
{
	return read_with_audit(request, "alert", &record_alerts, error);
}

static enum result read_audit(const struct request *request, struct error *error)
{
	enum result result = add_one(request, "audit", &record_audit, "x.id = ?", error);

	return result == RESULT_OK && is_missing(request, "audit") ? RESULT_NONE : result;
}

/* ---- which */

static enum result (*const readers[])(const struct request *request, struct error *error) = {
	read_task, read_order, read_outbox, read_payment, read_rule, read_alert, read_audit
};
enum {
	KIND_ORDER = 1,
	KIND_PAYMENT = 3
};
_Static_assert(ARRAY_LENGTH(readers) == ARRAY_LENGTH(record_kind_names) - 1, "one per kind");

static enum result check_id(size_t kind, struct request *request, struct error *error)
{
	size_t size = strlen(request->id);
	bool is_number = text_parse_uint(request->id, 1, UINT64_MAX, &request->number);

	if (kind == KIND_ORDER && text_is_key(request->id, size, TEXT_KEY_MAX))
		return RESULT_OK;
	if (kind == KIND_PAYMENT && text_is_key(request->id, size, PAYMENT_KEY_MAX))
		return RESULT_OK;
	if (kind != KIND_ORDER && is_number)
		return RESULT_OK;
	return error_set(RESULT_PERMANENT, error, "\"%.70s\" can be no %s", request->id,
		kind == KIND_ORDER ? "order number" : "id");
}

enum result record_read(struct db *db, const char *kind, const char *id, bool is_unmasked,
	struct json **json_out, struct error *error)
{
	struct request request = { .db = db, .id = id, .is_unmasked = is_unmasked };
	size_t place = 0;

	*json_out = NULL;
	while (record_kind_names[place] != NULL && !text_equals(record_kind_names[place], kind))
		place++;
	if (record_kind_names[place] == NULL)
		return error_set(RESULT_PERMANENT, error,
			"\"%.40s\" is not task, order, outbox, payment, rule, alert or audit",
			kind);
	enum result result = check_id(place, &request, error);
	if (result != RESULT_OK)
		return result;
	request.root = json_create_object();
	result = readers[place](&request, error);
	if (result == RESULT_OK)
		*json_out = request.root;
	else
		json_destroy(&request.root);
	if (result == RESULT_NONE)
		return error_set(RESULT_NONE, error, "there is no %s %s", kind, id);
	return result;
}
