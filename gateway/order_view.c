#include "gateway/order_view.h"

#include <string.h>

#include "common/base/text.h"
#include "common/io/db.h"
#include "common/io/db_list.h"
#include "common/io/json.h"
#include "common/order/creation.h"

enum {
	PARAM_MAX = 6
};

#define ISO(column) "CONCAT(REPLACE(CAST(" column " AS CHAR), ' ', 'T'), 'Z')"
#define CREATED_AT  ISO("created_at")
#define EXPIRE_TIME ISO("expire_time")
#define PAY_TIME    ISO("pay_time")
#define CLOSE_TIME  ISO("close_time")
#define DONE_AT     ISO("done_at")
#define AT          ISO("at")

/* How a column becomes a member. */
enum member_kind {
	MEMBER_TEXT, /* left out when NULL */
	MEMBER_INT,
	MEMBER_ID,
};

struct member {
	const char *name;
	enum member_kind kind;
};

static void set_members(
	struct json *object, const struct db_rows *rows, const struct member *members, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (db_rows_is_null(rows, i))
			continue;
		switch (members[i].kind) {
		case MEMBER_TEXT:
			json_set_text(object, members[i].name, db_rows_text(rows, i, NULL));
			break;
		case MEMBER_INT:
			json_set_int(object, members[i].name, db_rows_int(rows, i));
			break;
		case MEMBER_ID:
			json_set_id(object, members[i].name, db_rows_uint(rows, i));
			break;
		}
	}
}

/* A statement whose rows become a list of objects. */
struct list {
	const char *name;
	const char *sql;
	struct member members[8];
	size_t member_count;
	size_t param_count; /* each is the order number */
};

static const struct list payments = {
	"payments",
	"SELECT channel, trade_no, amount_cents, currency, outcome, refund_state, " CREATED_AT
	" FROM t_payment WHERE order_no = ? ORDER BY id LIMIT 1000",
	{ { "channel", MEMBER_TEXT }, { "trade_no", MEMBER_TEXT }, { "amount_cents", MEMBER_INT },
		{ "currency", MEMBER_TEXT }, { "outcome", MEMBER_TEXT },
		{ "refund_state", MEMBER_TEXT }, { "noticed_at", MEMBER_TEXT } },
	7,
	1,
};

static const struct list tasks = {
	"tasks",
	"SELECT id, kind, status, calls, idempotency_key, " CREATED_AT ", " DONE_AT
	" FROM t_compensation WHERE order_no = ? ORDER BY id LIMIT 1000",
	{ { "id", MEMBER_ID }, { "kind", MEMBER_TEXT }, { "status", MEMBER_TEXT },
		{ "calls", MEMBER_INT }, { "idempotency_key", MEMBER_TEXT },
		{ "created_at", MEMBER_TEXT }, { "done_at", MEMBER_TEXT } },
	7,
	1,
};

static const struct list items = {
	"items",
	"SELECT sku_id, quantity FROM t_order_item WHERE order_id = "
	"(SELECT id FROM t_order WHERE order_no = ?) ORDER BY id LIMIT 1000",
	{ { "sku_id", MEMBER_TEXT }, { "quantity", MEMBER_INT } },
	2,
	1,
};

/* Of an outbox row: ORDER_CREATED arms the timeout, every other event is told to the world. */
#define SENT "IF(event_type = 'ORDER_CREATED', 'armed', CONCAT('published ', event_type))"
#define DONE                                                                            \
	"CASE kind WHEN 'STOCK_RESTORE' THEN 'restored' WHEN 'REFUND' THEN 'refunded' " \
	"ELSE CONCAT('delivered to ', target) END"
#define LATENESS "TIMESTAMPDIFF(MICROSECOND, expire_time, close_time) DIV 1000"

/* What happened when, from the rows themselves; of what is at the same time, in this order. */
static const struct list time_line = {
	"time_line",
	"SELECT " AT ", what, source, reason, lateness_ms FROM ("
	"SELECT created_at AS at, 1 AS place, 'created' AS what, NULL AS source, "
	"NULL AS reason, NULL AS lateness_ms FROM t_order WHERE order_no = ? "
	"UNION ALL SELECT expire_time, 3, 'due', NULL, NULL, NULL FROM t_order "
	"WHERE order_no = ? "
	"UNION ALL SELECT pay_time, 4, 'paid', NULL, NULL, NULL FROM t_order "
	"WHERE order_no = ? "
	"UNION ALL SELECT close_time, 5, 'closed', close_source, close_reason, "
	"IF(close_reason = 'TIMEOUT', " LATENESS ", NULL) FROM t_order "
	"WHERE order_no = ? "
	"UNION ALL SELECT sent_at, 6, " SENT ", NULL, NULL, NULL "
	"FROM t_outbox_event WHERE order_no = ? "
	"UNION ALL SELECT done_at, 7, " DONE ", NULL, NULL, NULL "
	"FROM t_compensation WHERE order_no = ?) AS line "
	"WHERE at IS NOT NULL ORDER BY at, place LIMIT 1000",
	{ { "at", MEMBER_TEXT }, { "what", MEMBER_TEXT }, { "source", MEMBER_TEXT },
		{ "reason", MEMBER_TEXT }, { "lateness_ms", MEMBER_INT } },
	5,
	6,
};

static enum result add_list(struct db *db, struct json *root, const char *order_no,
	const struct list *list, struct error *error)
{
	struct db_param params[PARAM_MAX];
	struct json *array = json_create_array();
	struct db_rows *rows = NULL;

	REQUIRE(list->param_count <= PARAM_MAX);
	for (size_t i = 0; i < list->param_count; i++)
		params[i] = db_text(order_no);
	enum result result = db_query(db, list->sql, params, list->param_count, &rows, error);

	while (db_rows_next(rows)) {
		struct json *object = json_create_object();

		set_members(object, rows, list->members, list->member_count);
		json_append_adopt(array, &object);
	}
	db_rows_destroy(&rows);
	json_adopt(root, list->name, &array);
	return result == RESULT_NONE ? RESULT_OK : result;
}

#define ORDER_COLUMNS                                                                            \
	"SELECT order_no, user_id, amount_cents, currency, status, " CREATED_AT ", " EXPIRE_TIME \
	", " PAY_TIME ", " CLOSE_TIME ", close_reason, close_source, "                           \
	"IF(close_reason = 'TIMEOUT', " LATENESS                                                 \
	", NULL), rule_id FROM t_order WHERE order_no IN "

/* The next of the rows that ORDER_COLUMNS gives. */
static void add_order(struct json *root, const struct db_rows *rows)
{
	static const struct member members[] = { { "order_no", MEMBER_TEXT },
		{ "user_id", MEMBER_ID }, { "amount_cents", MEMBER_INT },
		{ "currency", MEMBER_TEXT }, { "status", MEMBER_TEXT },
		{ "created_at", MEMBER_TEXT }, { "expire_time", MEMBER_TEXT },
		{ "pay_time", MEMBER_TEXT }, { "close_time", MEMBER_TEXT },
		{ "close_reason", MEMBER_TEXT }, { "close_source", MEMBER_TEXT },
		{ "lateness_ms", MEMBER_INT }, { "rule_id", MEMBER_ID } };

	set_members(root, rows, members, ARRAY_LENGTH(members));
	/* Never at once, but never at all: said in so many words. */
	if (db_rows_is_null(rows, 6))
		json_set_text(root, "expire_time", NULL);
}

static enum result read_order(
	struct db *db, struct json *root, const char *order_no, struct error *error)
{
	const struct db_param param = db_text(order_no);
	struct db_rows *rows = NULL;
	enum result result = db_query(db, ORDER_COLUMNS "(?)", &param, 1, &rows, error);

	if (db_rows_next(rows))
		add_order(root, rows);
	db_rows_destroy(&rows);
	return result;
}

enum result order_view_read(
	struct db *db, const char *order_no, struct json **root_out, struct error *error)
{
	static const struct list *const lists[] = { &items, &payments, &tasks, &time_line };
	struct json *root = json_create_object();
	enum result result = read_order(db, root, order_no, error);

	for (size_t i = 0; i < ARRAY_LENGTH(lists) && result == RESULT_OK; i++)
		result = add_list(db, root, order_no, lists[i], error);
	if (result != RESULT_OK)
		json_destroy(&root);
	*root_out = root;
	return result;
}

static void add_items(struct json *root, const struct creation *creation)
{
	struct json *array = json_create_array();

	for (size_t i = 0; i < creation->item_count; i++) {
		struct json *object = json_create_object();

		json_set_text(object, "sku_id", creation->items[i].sku_id);
		json_set_int(object, "quantity", creation->items[i].quantity);
		json_append_adopt(array, &object);
	}
	json_adopt(root, items.name, &array);
}

/* Its creation, and its deadline when it has one. */
static void add_first_times(struct json *root)
{
	const char *const times[] = { json_get_text(root, "created_at"),
		json_get_text(root, "expire_time") };
	static const char *const words[] = { "created", "due" };
	struct json *array = json_create_array();

	for (size_t i = 0; i < ARRAY_LENGTH(words); i++) {
		if (times[i] == NULL)
			continue;
		struct json *object = json_create_object();
		json_set_text(object, "at", times[i]);
		json_set_text(object, "what", words[i]);
		json_append_adopt(array, &object);
	}
	json_adopt(root, time_line.name, &array);
}

static struct json *view_new(const struct creation *creation, const struct db_rows *rows)
{
	static const struct list *const empty[] = { &payments, &tasks };
	struct json *root = json_create_object();

	add_order(root, rows);
	add_items(root, creation);
	for (size_t i = 0; i < ARRAY_LENGTH(empty); i++) {
		struct json *array = json_create_array();

		json_adopt(root, empty[i]->name, &array);
	}
	add_first_times(root);
	return root;
}

static enum result query_new(struct db *db, const struct creation *const *creations, size_t count,
	struct db_rows **rows_out, struct error *error)
{
	struct db_param params[ORDER_VIEW_MAX];
	const struct db_list_query query = {
		.head = ORDER_COLUMNS, .tail = "", .params = params, .count = count
	};

	REQUIRE(count <= ORDER_VIEW_MAX);
	for (size_t i = 0; i < count; i++)
		params[i] = db_text(creations[i]->order_no);
	return db_query_list(db, &query, rows_out, error);
}

enum result order_view_read_new(struct db *db, const struct creation *const *creations,
	size_t count, struct json **roots_out, struct error *error)
{
	struct db_rows *rows = NULL;
	enum result result = query_new(db, creations, count, &rows, error);
	size_t found = 0;

	memset(roots_out, 0, count * sizeof(struct json *));
	while (db_rows_next(rows)) {
		const char *order_no = db_rows_text(rows, 0, NULL);

		for (size_t i = 0; i < count; i++) {
			if (roots_out[i] != NULL || !text_equals(creations[i]->order_no, order_no))
				continue;
			roots_out[i] = view_new(creations[i], rows);
			found++;
		}
	}
	db_rows_destroy(&rows);
	if (result == RESULT_NONE || (result == RESULT_OK && found != count))
		result = error_set(RESULT_TEMPORARY, error, "a new order is not there");
	for (size_t i = 0; i < count && result != RESULT_OK; i++)
		json_destroy(&roots_out[i]);
	return result;
}
