#include "common/order/creation_set.h"

#include "common/base/failpoint.h"
#include "common/base/text.h"
#include "common/io/db.h"
#include "common/io/db_list.h"

/* The ids that the new orders got, in their order. */
static enum result find_ids(struct db *db, const struct creation *const *creations, size_t count,
	uint64_t ids[CREATION_SET_MAX], struct error *error)
{
	struct db_param params[CREATION_SET_MAX];
	const struct db_list_query query = {
		.head = "SELECT id, order_no FROM t_order FORCE INDEX (uk_order_no) "
			"WHERE order_no IN ",
		.tail = "",
		.params = params,
		.count = count,
	};
	struct db_rows *rows = NULL;
	size_t found = 0;

	for (size_t i = 0; i < count; i++)
		params[i] = db_text(creations[i]->order_no);
	enum result result = db_query_list(db, &query, &rows, error);
	while (db_rows_next(rows)) {
		for (size_t i = 0; i < count; i++) {
			if (!text_equals(creations[i]->order_no, db_rows_text(rows, 1, NULL)))
				continue;
			ids[i] = db_rows_uint(rows, 0);
			found++;
		}
	}
	db_rows_destroy(&rows);
	if (result == RESULT_NONE || (result == RESULT_OK && found != count))
		return error_set(RESULT_CONFLICT, error, "a new order is not there");
	return result;
}

static enum result create_all(
	struct db *db, const struct creation *const *creations, size_t count, struct error *error)
{
	uint64_t ids[CREATION_SET_MAX];
	enum result result = creation_rows_insert_orders(db, creations, count, error);

	if (result == RESULT_OK)
		result = find_ids(db, creations, count, ids, error);
	if (result == RESULT_OK)
		result = creation_rows_insert_items(db, creations, ids, count, error);
	if (result == RESULT_OK)
		result = creation_rows_insert_events(db, creations, count, error);
	if (result == RESULT_OK)
		FAILPOINT("before_set_commit");
	return result;
}

enum result creation_set_run(
	struct db *db, const struct creation *const *creations, size_t count, struct error *error)
{
	REQUIRE(count > 0 && count <= CREATION_SET_MAX);
	enum result result = db_begin(db, error);
	if (result == RESULT_OK)
		result = create_all(db, creations, count, error);
	if (result == RESULT_OK)
		result = db_commit(db, error);
	db_rollback(db); /* does nothing after a commit */
	return error_context(result, error, "create orders");
}
