/* Sorts what the server and its library can answer by what the caller should do next. */
#include <mysqld_error.h>

#include "common/io/db_internal.h"

enum {
	FIRST_CLIENT_ERROR = 2000,
	LAST_CLIENT_ERROR = 2999,
	SNAPSHOT_CHANGED = 1020,
	GROUP_CONFLICT = 3101, /* another server of the group was first */
};

/* Server errors that say something about the server, not about the row at hand. */
static const unsigned int server_trouble[] = {
	ER_DISK_FULL,
	ER_CON_COUNT_ERROR,
	ER_OUT_OF_RESOURCES,
	ER_OUTOFMEMORY,
	ER_OUT_OF_SORTMEMORY,
	ER_DBACCESS_DENIED_ERROR,
	ER_ACCESS_DENIED_ERROR,
	ER_NO_DB_ERROR,
	ER_BAD_DB_ERROR,
	ER_BAD_FIELD_ERROR,
	ER_GET_ERRNO,
	ER_RECORD_FILE_FULL,
	ER_TABLEACCESS_DENIED_ERROR,
	ER_COLUMNACCESS_DENIED_ERROR,
	ER_NO_SUCH_TABLE,
	ER_NET_READ_INTERRUPTED,
	ER_NET_WRITE_INTERRUPTED,
	ER_NET_READ_ERROR,
	ER_NET_ERROR_ON_WRITE,
	ER_ERROR_DURING_COMMIT,
	ER_TOO_MANY_USER_CONNECTIONS,
	ER_LOCK_TABLE_FULL,
	ER_USER_LIMIT_REACHED,
	ER_SPECIFIC_ACCESS_DENIED_ERROR,
	ER_QUERY_INTERRUPTED,
	ER_BINLOG_LOGGING_IMPOSSIBLE,
	ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION,
	1461 /* too many prepared statements in the server */,
	1615 /* a table changed again and again while a statement was prepared */,
	1665 /* statement-based log under READ COMMITTED */,
	1176 /* an index we name is not there */,
	1710 /* a trigger cannot be read, as after a start or a freeze that was cut short, */,
	1711 /* an unknown one */,
	1969 /* statement limit, MariaDB */,
	3024 /* statement limit, MySQL */,
	3100 /* hook refused the commit: group replication */,
};

/* Server errors after which the session, or what we keep in it, is gone or of no use: a server of
 * a group that takes no writes, or is cut off, where a new session may find another one. */
static const unsigned int session_trouble[] = {
	0,
	ER_SERVER_SHUTDOWN,
	ER_UNKNOWN_STMT_HANDLER /* another server behind a proxy */,
	ER_UNKNOWN_COM_ERROR /* Galera: not a member of the majority */,
	ER_OPTION_PREVENTS_STATEMENT /* read_only */,
	1836 /* read-only mode */,
	1927 /* killed, MariaDB */,
	3169 /* killed, MySQL */,
	4031 /* idle for too long, MySQL */,
};

static bool is_one_of(unsigned int number, const unsigned int *numbers, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (numbers[i] == number)
			return true;
	return false;
}

static bool is_lost_race(unsigned int number)
{
	return number == ER_LOCK_DEADLOCK || number == ER_LOCK_WAIT_TIMEOUT ||
	       number == SNAPSHOT_CHANGED || number == GROUP_CONFLICT;
}

/* The one place that knows what an error number asks for.  Ends the transaction, as promised. */
enum result db_fail(struct db *db, unsigned int number, const char *text, struct error *error)
{
	enum result result = error_set(RESULT_PERMANENT, error, "mysql: %s (%u)", text, number);

	db->last_errno = number;
	if ((number >= FIRST_CLIENT_ERROR && number <= LAST_CLIENT_ERROR) ||
		is_one_of(number, session_trouble, ARRAY_LENGTH(session_trouble))) {
		db_disconnect(db);
		return RESULT_TEMPORARY;
	}
	if (is_lost_race(number))
		result = RESULT_CONFLICT;
	else if (is_one_of(number, server_trouble, ARRAY_LENGTH(server_trouble)))
		result = RESULT_TEMPORARY;
	/* A deadlock has ended the whole transaction; then no member can be saved. */
	if (result != RESULT_PERMANENT)
		db_group_lose(db);
	db_rollback(db);
	return result;
}
