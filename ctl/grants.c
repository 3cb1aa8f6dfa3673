#include "ctl/grants.h"

#include <string.h>

#include "common/base/compiler.h"
#include "common/base/text.h"
#include "common/io/db.h"
#include "ctl/grant_table.h"
#include "ctl/session.h"

enum {
	SQL_SIZE = 512,
	NAME_SIZE = 64 * 4 + 1, /* 64 characters */
	LIST_SIZE = 1024,
	ERROR_DATABASE_DENIED = 1044,
	ERROR_NO_USER = 1133, /* MariaDB */
	ERROR_TABLE_DENIED = 1142,
	ERROR_COLUMN_DENIED = 1143,
	ERROR_DENIED = 1227,
	ERROR_CREATES_USER = 1410, /* MySQL: GRANT does not make users */
};

static const char *const hosts[] = { "%", "localhost" };

struct granting {
	struct db *db;
	const char *schema;
	char served[LIST_SIZE];
	bool is_refused; /* we may not grant */
};

static bool is_denied(unsigned int number)
{
	return number == ERROR_DATABASE_DENIED || number == ERROR_TABLE_DENIED ||
	       number == ERROR_COLUMN_DENIED || number == ERROR_DENIED;
}

/* NONE: there is no such user, or we may not grant, which is_refused says. */
static enum result grant_one(struct granting *granting, const char *privileges, const char *table,
	const char *account, struct error *error)
{
	char sql[SQL_SIZE];

	if (!text_format(sql, sizeof(sql), "GRANT %s ON `%s`.`%s` TO %s", privileges,
		    granting->schema, table, account))
		return error_set(RESULT_PERMANENT, error, "a name is too long for GRANT");
	enum result result = db_run(granting->db, sql, error);
	unsigned int number = result == RESULT_OK ? 0 : db_last_errno(granting->db);
	granting->is_refused = is_denied(number);
	if (granting->is_refused || number == ERROR_NO_USER || number == ERROR_CREATES_USER)
		return RESULT_NONE;
	return error_context(result, error, "grant on %s to %s", table, account);
}

static enum result grant_all_tables(
	struct granting *granting, const char *privileges, const char *account, struct error *error)
{
	static const char sql[] =
		"SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE() "
		"AND table_type = 'BASE TABLE' ORDER BY table_name LIMIT 1000";
	struct db_rows *tables = NULL;
	enum result result = db_query(granting->db, sql, NULL, 0, &tables, error);

	while (result == RESULT_OK && db_rows_next(tables))
		result = grant_one(
			granting, privileges, db_rows_text(tables, 0, NULL), account, error);
	db_rows_destroy(&tables);
	return result;
}

static enum result grant_list(struct granting *granting, const struct grant *grant,
	const char *account, struct error *error)
{
	enum result result = RESULT_OK;

	for (; grant != NULL && result == RESULT_OK && grant->privileges != NULL; grant++)
		result = grant->table == NULL
				 ? grant_all_tables(granting, grant->privileges, account, error)
				 : grant_one(granting, grant->privileges, grant->table, account,
					   error);
	return result;
}

static enum result grant_account(struct granting *granting, const struct grant_user *user,
	const char *account, struct error *error)
{
	enum result result = grant_one(granting, "SELECT", "t_schema_version", account, error);

	for (size_t i = 0; i < ARRAY_LENGTH(user->lists) && result == RESULT_OK; i++)
		result = grant_list(granting, user->lists[i], account, error);
	return result;
}

static void note_served(struct granting *granting, const char *account)
{
	size_t length = strlen(granting->served);

	(void)text_format(granting->served + length, sizeof(granting->served) - length, "%s%s",
		length == 0 ? "" : ", ", account);
}

static enum result grant_everybody(struct granting *granting, struct error *error)
{
	for (size_t i = 0; grant_users[i / ARRAY_LENGTH(hosts)].name != NULL; i++) {
		const struct grant_user *user = &grant_users[i / ARRAY_LENGTH(hosts)];
		char account[NAME_SIZE];

		(void)text_format(account, sizeof(account), "'%s'@'%s'", user->name,
			hosts[i % ARRAY_LENGTH(hosts)]);
		enum result result = grant_account(granting, user, account, error);

		if (result == RESULT_OK)
			note_served(granting, account);
		else if (result != RESULT_NONE || granting->is_refused)
			return result;
	}
	return RESULT_OK;
}

/* Where GRANT makes a user that is not there, one without a password, it must not. */
static enum result forbid_new_users(struct db *db, struct error *error)
{
	if (!db_is_mariadb(db))
		return RESULT_OK; /* no release of ours lets GRANT make users */
	return db_run(db, "SET sql_mode = CONCAT(@@sql_mode, ',NO_AUTO_CREATE_USER')", error);
}

static enum result run(struct granting *granting, struct error *error)
{
	struct db_rows *schema = NULL;

	enum result result = forbid_new_users(granting->db, error);
	if (result == RESULT_OK)
		result = db_query(granting->db, "SELECT DATABASE()", NULL, 0, &schema, error);
	if (result == RESULT_OK && db_rows_next(schema)) {
		granting->schema = db_rows_text(schema, 0, NULL);
		result = strchr(granting->schema, '`') == NULL
				 ? grant_everybody(granting, error)
				 : error_set(RESULT_PERMANENT, error,
					   "the schema has a quote in its name");
	}
	db_rows_destroy(&schema);
	return result;
}

int grants_apply(const struct session *session)
{
	struct granting granting = { .db = session->db };
	struct error error = { 0 };
	enum result result = run(&granting, &error);

	if (granting.is_refused) {
		output_detail(&session->output,
			"grants are left as they are: this user may not give any (%s)", error.text);
		return EXIT_STATUS_OK;
	}
	if (result != RESULT_OK && result != RESULT_NONE)
		return session_fail(session, result, &error);
	if (granting.served[0] == '\0')
		output_detail(&session->output, "grants: no program has a user of its own");
	else
		output_say(&session->output, "grants given to %s", granting.served);
	return EXIT_STATUS_OK;
}
