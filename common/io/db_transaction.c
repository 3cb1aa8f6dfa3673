/* Transactions of db, alone and in groups. */
#include <string.h>

#include "common/io/db_group.h"
#include "common/io/db_internal.h"

enum result db_begin(struct db *db, struct error *error)
{
	if (db->group == DB_GROUP_LOST)
		return error_set(RESULT_TEMPORARY, error, "the common transaction is lost");
	enum result result = db_run(
		db, db->group == DB_GROUP_OPEN ? "SAVEPOINT member" : "START TRANSACTION", error);
	db->is_in_transaction = result == RESULT_OK;
	return result;
}

enum result db_commit(struct db *db, struct error *error)
{
	if (db->group == DB_GROUP_LOST)
		return error_set(RESULT_TEMPORARY, error, "the common transaction is lost");
	enum result result = db->group == DB_GROUP_OPEN ? RESULT_OK : db_run(db, "COMMIT", error);
	db->is_in_transaction = false;
	return error_context(result, error, "commit");
}

static void roll_back(struct db *db, const char *sql)
{
	db->is_in_transaction = false;
	if (mysql_real_query(db->mysql, sql, strlen(sql)) != 0)
		db_disconnect(db);
}

void db_rollback(struct db *db)
{
	if (db->mysql == NULL || !db->is_in_transaction)
		return;
	roll_back(db, db->group == DB_GROUP_OPEN ? "ROLLBACK TO SAVEPOINT member" : "ROLLBACK");
}

enum result db_group_begin(struct db *db, struct error *error)
{
	enum result result = db_run(db, "START TRANSACTION", error);

	if (result == RESULT_OK)
		db->group = DB_GROUP_OPEN;
	return result;
}

bool db_group_is_lost(const struct db *db)
{
	return db->group == DB_GROUP_LOST;
}

void db_group_lose(struct db *db)
{
	if (db->group != DB_GROUP_OPEN)
		return;
	db->group = DB_GROUP_LOST;
	if (db->mysql != NULL)
		roll_back(db, "ROLLBACK");
}

enum result db_group_end(struct db *db, struct error *error)
{
	db_rollback(db); /* of a member that did not finish */
	bool is_lost = db->group == DB_GROUP_LOST;

	db->group = DB_GROUP_NONE;
	if (is_lost)
		return error_set(RESULT_CONFLICT, error, "the common transaction is lost");
	return error_context(db_run(db, "COMMIT", error), error, "commit a group");
}

/* A name that is cut only makes others wait too. */
enum result db_take_lock(struct db *db, const char *name, uint32_t wait_s, struct error *error)
{
	static const char sql[] = "SELECT GET_LOCK(LEFT(CONCAT(?, '.', DATABASE()), 64), ?)";
	const struct db_param params[] = { db_text(name), db_uint(wait_s) };
	struct db_rows *rows = NULL;
	enum result result = db_query(db, sql, params, ARRAY_LENGTH(params), &rows, error);
	bool is_ours = result == RESULT_OK && db_rows_next(rows) && db_rows_uint(rows, 0) == 1;

	db_rows_destroy(&rows);
	return result == RESULT_OK && !is_ours
		       ? RESULT_NONE
		       : error_context(result, error, "take the lock %s", name);
}
