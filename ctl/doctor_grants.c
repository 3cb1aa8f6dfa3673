#include "ctl/doctor_grants.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/io/db.h"
#include "ctl/finding.h"
#include "ctl/grant_table.h"
#include "ctl/session.h"

enum {
	ACCOUNT_SIZE = 384, /* as information_schema has it: 'name'@'host' */
	SQL_SIZE = 512,
	WORDS_SIZE = 600,
	WORDS_MAX = 8, /* rights that are named; the others are counted */
	NAMES_SIZE = 400,
};

enum scope {
	SCOPE_SERVER,
	SCOPE_SCHEMA,
	SCOPE_TABLE, /* or a column of it */
};

/* What the server says that an account may do. */
struct held {
	char account[ACCOUNT_SIZE];
	enum scope scope;
	char privilege[GRANT_NAME_SIZE];
	char table[GRANT_NAME_SIZE];
	char column[GRANT_NAME_SIZE];
	bool may_pass_on;
};

/* The columns in the order of read_held.  A schema may stand there as a pattern. */
static const char held_sql[] =
	"SELECT CAST(grantee AS CHAR), scope, CAST(privilege_type AS CHAR), CAST(object AS CHAR), "
	"CAST(part AS CHAR), is_grantable = 'YES' FROM ("
	"SELECT grantee, 0 AS scope, privilege_type, '' AS object, '' AS part, is_grantable "
	"FROM information_schema.user_privileges UNION ALL "
	"SELECT grantee, 1, privilege_type, '', '', is_grantable "
	"FROM information_schema.schema_privileges WHERE DATABASE() LIKE table_schema UNION ALL "
	"SELECT grantee, 2, privilege_type, table_name, '', is_grantable "
	"FROM information_schema.table_privileges WHERE table_schema = DATABASE() UNION ALL "
	"SELECT grantee, 2, privilege_type, table_name, column_name, is_grantable "
	"FROM information_schema.column_privileges WHERE table_schema = DATABASE()) held "
	"WHERE grantee LIKE '''lapse@_%' ESCAPE '@' ORDER BY 1, 2, 4, 5, 3 LIMIT 20000";

/* What is wrong with one account, in words. */
struct words {
	char text[WORDS_SIZE];
	size_t count;
};

struct inspection {
	const struct session *session;
	struct finding_list *list;
	struct held *held;
	size_t held_count;
	struct grant_right rights[GRANT_RIGHTS_MAX];
	size_t right_count;
	size_t seen;
	size_t troubled;
	char names[NAMES_SIZE]; /* of those that are as they should be */
};

static void add_words(struct words *words, const char *privilege, const char *table,
	const char *column, const char *behind)
{
	size_t length = strlen(words->text);

	if (++words->count > WORDS_MAX)
		return;
	(void)text_format(words->text + length, sizeof(words->text) - length, "%s%s%s%s%s on %s%s",
		length == 0 ? "" : ", ", privilege, column[0] == '\0' ? "" : " (", column,
		column[0] == '\0' ? "" : ")", table, behind);
}

static void end_words(struct words *words)
{
	size_t length = strlen(words->text);

	if (words->count > WORDS_MAX)
		(void)text_format(words->text + length, sizeof(words->text) - length,
			" and %zu more", words->count - WORDS_MAX);
}

static bool is_wanted(const struct inspection *inspection, const char *privilege, const char *table,
	const char *column)
{
	for (size_t i = 0; i < inspection->right_count; i++) {
		const struct grant_right *right = &inspection->rights[i];

		if (text_equals(right->privilege, privilege) && text_equals(right->table, table) &&
			(right->column[0] == '\0' || text_equals(right->column, column)))
			return true;
	}
	return false;
}

/* On each table of the schema: then it may as well be given on the schema. */
static bool is_wanted_everywhere(const struct inspection *inspection, const char *privilege)
{
	for (size_t i = 0; grant_tables[i] != NULL; i++)
		if (!is_wanted(inspection, privilege, grant_tables[i], ""))
			return false;
	return true;
}

static void judge_held(
	const struct inspection *inspection, const struct held *held, struct words *too_much)
{
	static const char *const places[] = { "the whole server", "the whole schema" };
	bool is_needed = held->scope == SCOPE_TABLE
				 ? is_wanted(inspection, held->privilege, held->table, held->column)
				 : held->scope == SCOPE_SCHEMA &&
					   is_wanted_everywhere(inspection, held->privilege);

	if (text_equals(held->privilege, "USAGE") || (is_needed && !held->may_pass_on))
		return;
	add_words(too_much, held->privilege,
		held->scope == SCOPE_TABLE ? held->table : places[held->scope], held->column,
		held->may_pass_on ? " with grant option" : "");
}

static bool is_held(const struct grant_right *right, const struct held *held, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (text_equals(held[i].privilege, right->privilege) &&
			(held[i].scope != SCOPE_TABLE ||
				(text_equals(held[i].table, right->table) &&
					(held[i].column[0] == '\0' ||
						text_equals(held[i].column, right->column)))))
			return true;
	return false;
}

/* A role stands among the grants of an account without a table: what it gives is not looked at. */
static bool has_role(const struct session *session, const char *account)
{
	char sql[SQL_SIZE];
	struct db_rows *rows = NULL;
	bool is_found = false;

	(void)text_format(sql, sizeof(sql), "SHOW GRANTS FOR %s", account);
	enum result result = db_query(session->db, sql, NULL, 0, &rows, NULL);
	while (result == RESULT_OK && db_rows_next(rows))
		is_found = is_found || strstr(db_rows_text(rows, 0, NULL), " ON ") == NULL;
	db_rows_destroy(&rows);
	return is_found;
}

static void note_well(struct inspection *inspection, const char *account)
{
	size_t length = strlen(inspection->names);

	(void)text_format(inspection->names + length, sizeof(inspection->names) - length, "%s%s",
		length == 0 ? "" : ", ", account);
}

static void tell(struct inspection *inspection, const char *account, const struct words *missing,
	const struct words *too_much)
{
	if (missing->count > 0 && has_role(inspection->session, account))
		finding_warn(inspection->list, "grants",
			"%s lacks %s, unless a role gives it, which is not looked at", account,
			missing->text);
	else if (missing->count > 0)
		finding_fail(inspection->list, "grants",
			"%s lacks %s, which its work needs: run lapsectl migrate, or GRANT it",
			account, missing->text);
	if (too_much->count > 0)
		finding_warn(inspection->list, "grants",
			"%s has %s, which its work does not need: REVOKE it", account,
			too_much->text);
	if (missing->count + too_much->count > 0)
		inspection->troubled++;
	else
		note_well(inspection, account);
}

static void inspect_account(
	struct inspection *inspection, const struct held *held, size_t held_count)
{
	struct words missing = { .text = "" };
	struct words too_much = { .text = "" };

	for (size_t i = 0; i < inspection->right_count; i++) {
		const struct grant_right *right = &inspection->rights[i];

		if (!is_held(right, held, held_count))
			add_words(&missing, right->privilege, right->table, right->column, "");
	}
	for (size_t i = 0; i < held_count; i++)
		judge_held(inspection, &held[i], &too_much);
	end_words(&missing);
	end_words(&too_much);
	inspection->seen++;
	tell(inspection, held->account, &missing, &too_much);
}

/* 'lapse_ctl'@'%' is an account of lapse_ctl. */
static const struct grant_user *find_user(const char *account)
{
	for (const struct grant_user *user = grant_users; user->name != NULL; user++)
		if (account[0] == '\'' && text_starts_with(account + 1, user->name) &&
			text_starts_with(account + 1 + strlen(user->name), "'@"))
			return user;
	return NULL;
}

static void inspect_all(struct inspection *inspection)
{
	size_t next = 0;

	for (size_t i = 0; i < inspection->held_count; i = next) {
		const struct held *held = &inspection->held[i];
		const struct grant_user *user = find_user(held->account);

		next = i + 1;
		while (next < inspection->held_count &&
			text_equals(inspection->held[next].account, held->account))
			next++;
		if (user == NULL)
			continue;
		inspection->right_count = grant_table_list(user, inspection->rights);
		inspect_account(inspection, held, next - i);
	}
}

static void read_held(struct db_rows *rows, struct inspection *inspection)
{
	inspection->held = memory_allocate_array(db_rows_count(rows), sizeof(*inspection->held));
	while (db_rows_next(rows)) {
		struct held *held = &inspection->held[inspection->held_count++];

		(void)text_copy(held->account, sizeof(held->account), db_rows_text(rows, 0, NULL));
		held->scope = (enum scope)db_rows_uint(rows, 1);
		(void)text_copy(
			held->privilege, sizeof(held->privilege), db_rows_text(rows, 2, NULL));
		(void)text_copy(held->table, sizeof(held->table), db_rows_text(rows, 3, NULL));
		(void)text_copy(held->column, sizeof(held->column), db_rows_text(rows, 4, NULL));
		held->may_pass_on = db_rows_uint(rows, 5) != 0;
	}
}

void doctor_check_grants(const struct session *session, struct finding_list *list)
{
	struct inspection *inspection = memory_allocate(sizeof(*inspection));
	struct db_rows *rows = NULL;
	struct error error = { .text = "" };
	enum result result = db_query(session->db, held_sql, NULL, 0, &rows, &error);

	inspection->session = session;
	inspection->list = list;
	if (result == RESULT_OK) {
		read_held(rows, inspection);
		inspect_all(inspection);
	}
	if (result != RESULT_OK && result != RESULT_NONE)
		finding_warn(list, "grants", "cannot be read: %s", error.text);
	else if (inspection->seen == 0)
		finding_ok(list, "grants",
			"cannot tell: the server shows this user none of the users that lapsectl "
			"migrate serves; one with SELECT on mysql.* sees all");
	else if (inspection->seen > inspection->troubled)
		finding_ok(list, "grants", "may do their work and nothing else: %s",
			inspection->names);
	free(inspection->held);
	free(inspection);
	db_rows_destroy(&rows);
}
