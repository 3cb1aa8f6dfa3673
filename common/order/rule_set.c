#include "common/order/rule_set.h"

#include "common/base/text.h"
#include "common/io/db.h"

enum {
	WAIT_S = 2
};

/* A lock name has 64 characters at most; a name that is cut only makes others wait, too. */
#define LOCK_NAME "CONCAT('lapse.rules.', LEFT(DATABASE(), 50))"

enum result rule_set_read(struct db *db, char set_out[RULE_SET_SIZE], struct error *error)
{
	static const char sql[] =
		"SELECT CONCAT(COUNT(*), '-', COALESCE(MAX(id), 0), '-', "
		"COALESCE(BIT_XOR(CRC32(CONCAT_WS('/', id, COALESCE(tenant, '*'), "
		"COALESCE(channel, '*'), COALESCE(activity, '*'), COALESCE(category, '*'), "
		"priority, COALESCE(timeout_seconds, 0), valid_from, COALESCE(valid_to, '*')))), "
		"0)) FROM t_timeout_rule";
	struct db_rows *rows = NULL;
	enum result result = db_query(db, sql, NULL, 0, &rows, error);

	set_out[0] = '\0';
	if (db_rows_next(rows))
		(void)text_copy(set_out, RULE_SET_SIZE, db_rows_text(rows, 0, NULL));
	db_rows_destroy(&rows);
	return error_context(result, error, "read the timeout rules");
}

enum result rule_set_hold(struct db *db, const char *shown, bool *is_same_out, struct error *error)
{
	static const char sql[] = "SELECT GET_LOCK(" LOCK_NAME ", ?)";
	const struct db_param param = db_uint(WAIT_S);
	char set[RULE_SET_SIZE];
	struct db_rows *rows = NULL;
	enum result result = db_query(db, sql, &param, 1, &rows, error);
	bool is_ours = db_rows_next(rows) && db_rows_uint(rows, 0) == 1;

	*is_same_out = shown == NULL;
	db_rows_destroy(&rows);
	if (result == RESULT_OK && !is_ours)
		return error_set(
			RESULT_TEMPORARY, error, "somebody else is changing the timeout rules");
	if (result != RESULT_OK || shown == NULL)
		return error_context(result, error, "hold the timeout rules");
	result = rule_set_read(db, set, error);
	*is_same_out = result == RESULT_OK && text_equals(set, shown);
	if (result != RESULT_OK)
		rule_set_release(db);
	return result;
}

/* What fails here ends with the connection. */
void rule_set_release(struct db *db)
{
	(void)!db_run(db, "DO RELEASE_LOCK(" LOCK_NAME ")", NULL);
}
