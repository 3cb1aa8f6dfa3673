#include "common/report/listing_time.h"

#include "common/io/db.h"
#include "common/report/listing.h"

enum {
	ERROR_TIME_LIMIT_MARIADB = 1969,
	ERROR_TIME_LIMIT_MYSQL = 3024,
};

_Static_assert(LISTING_TIME_LIMIT_S == 3, "the texts know the number, too");

const char *listing_time_start(const struct db *db)
{
	return db_is_mariadb(db) ? "SET STATEMENT max_statement_time=3 FOR " : "";
}

enum result listing_time_explain(
	const struct db *db, enum result result, const char *what, struct error *error)
{
	unsigned int number = db_last_errno(db);

	if (result == RESULT_TEMPORARY &&
		(number == ERROR_TIME_LIMIT_MARIADB || number == ERROR_TIME_LIMIT_MYSQL))
		return error_set(result, error,
			"list %s: the server needed more than %d s: narrow the filter", what,
			LISTING_TIME_LIMIT_S);
	return error_context(result, error, "list %s", what);
}
