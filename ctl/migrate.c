#include "ctl/migrate.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/io/db.h"
#include "ctl/grants.h"
#include "ctl/migration.h"
#include "ctl/session.h"
#include "ctl/table.h"

enum {
	TIME_LIMIT_S = 3600, /* of one statement: an index on a large table takes its time */
	LOCK_WAIT_S = 5,     /* between two looks at the lock */
	LOCK_ROUNDS = 240,   /* together twenty minutes */
};

struct migrate {
	const struct session *session;
	struct migration_status *statuses;
	uint32_t newest; /* version of the server */
};

static int take_lock(const struct migrate *migrate)
{
	const struct session *session = migrate->session;
	struct error error = { 0 };

	for (int round = 0; round < LOCK_ROUNDS; round++) {
		enum result result =
			migration_lock(session->db, round == 0 ? 0 : LOCK_WAIT_S, &error);

		if (result == RESULT_OK)
			return EXIT_STATUS_OK;
		if (result != RESULT_NONE)
			return session_fail(session, result, &error);
		if (round == 0)
			output_say(
				&session->output, "another migrate holds the lock, waiting for it");
	}
	output_complain("another migrate has held the lock for 20 minutes; try again later");
	return EXIT_STATUS_TRY_AGAIN;
}

/* An applied migration is never edited: what it made is out there already. */
static int refuse_changed(const struct migrate *migrate)
{
	int status = EXIT_STATUS_OK;

	for (size_t i = 0; i < migration_file_count; i++) {
		const struct migration *file = &migration_files[i];

		if (migrate->statuses[i].state != MIGRATION_STATE_CHANGED)
			continue;
		output_complain("migration %04" PRIu32 "_%s was applied from another file (SHA-256 "
				"%.12s..., this program has %.12s...): an applied migration is "
				"never changed, write a new one",
			file->version, file->name, migrate->statuses[i].checksum, file->checksum);
		status = EXIT_STATUS_REFUSED;
	}
	return status;
}

static int apply_pending(const struct migrate *migrate)
{
	const struct session *session = migrate->session;
	struct error error = { 0 };
	size_t applied = 0;

	for (size_t i = 0; i < migration_file_count; i++) {
		const struct migration *file = &migration_files[i];

		if (migrate->statuses[i].state != MIGRATION_STATE_PENDING)
			continue;
		output_say(&session->output, "applying %04" PRIu32 "_%s (%zu of %zu)",
			file->version, file->name, i + 1, migration_file_count);
		enum result result = migration_apply(session->db, file, &error);
		if (result != RESULT_OK)
			return session_fail(session, result, &error);
		applied++;
	}
	if (applied == 0)
		output_say(&session->output, "nothing to do");
	return EXIT_STATUS_OK;
}

static void add_row(
	struct table *table, const struct migration *file, const struct migration_status *status)
{
	char version[16];
	const char *const values[] = { version, file->name, migration_state_names[status->state],
		status->applied_at[0] == '\0' ? NULL : status->applied_at, file->checksum };

	(void)text_format(version, sizeof(version), "%" PRIu32, file->version);
	table_add(table, values);
}

/* All migrations, or only those that would be applied. */
static void print_list(const struct migrate *migrate, bool only_pending)
{
	static const struct table_column columns[] = { { "version", TABLE_KIND_NUMBER },
		{ "name", TABLE_KIND_TEXT }, { "state", TABLE_KIND_TEXT },
		{ "applied_at", TABLE_KIND_TEXT }, { "checksum", TABLE_KIND_TEXT } };
	struct table *table = table_create(columns, ARRAY_LENGTH(columns));

	for (size_t i = 0; i < migration_file_count; i++)
		if (!only_pending || migrate->statuses[i].state == MIGRATION_STATE_PENDING)
			add_row(table, &migration_files[i], &migrate->statuses[i]);
	table_print(table, &migrate->session->output, stdout);
	if (only_pending && table_count(table) == 0)
		output_say(&migrate->session->output, "nothing to do");
	table_destroy(&table);
}

static int read_statuses(struct migrate *migrate)
{
	const struct session *session = migrate->session;
	struct error error = { 0 };
	enum result result = migration_list(session->db, migration_files, migration_file_count,
		migrate->statuses, &migrate->newest, &error);

	if (result != RESULT_OK)
		return session_fail(session, result, &error);
	if (migrate->newest > migration_files[migration_file_count - 1].version)
		output_say(&session->output,
			"the schema has version %" PRIu32 " of a newer release than this program's",
			migrate->newest);
	return EXIT_STATUS_OK;
}

static int show(struct migrate *migrate, bool only_pending)
{
	int status = read_statuses(migrate);

	if (status != EXIT_STATUS_OK)
		return status;
	print_list(migrate, only_pending);
	return refuse_changed(migrate);
}

static int apply(struct migrate *migrate)
{
	const struct session *session = migrate->session;
	struct error error = { 0 };
	int status = take_lock(migrate);

	if (status != EXIT_STATUS_OK)
		return status;
	enum result result = migration_prepare(session->db, &error);
	if (result != RESULT_OK)
		return session_fail(session, result, &error);
	/* Read under the lock, so that what another one has just applied is seen. */
	status = read_statuses(migrate);
	if (status == EXIT_STATUS_OK)
		status = refuse_changed(migrate);
	if (status == EXIT_STATUS_OK)
		status = apply_pending(migrate);
	if (status == EXIT_STATUS_OK)
		status = grants_apply(session);
	if (status == EXIT_STATUS_OK)
		status = read_statuses(migrate);
	if (status == EXIT_STATUS_OK && session->output.form != OUTPUT_FORM_TEXT)
		print_list(migrate, false);
	return status;
}

int migrate_run(const struct session *session)
{
	struct migrate migrate = { .session = session };
	int status;

	db_set_time_limit(session->db, TIME_LIMIT_S);
	status = session_connect(session);
	if (status != EXIT_STATUS_OK)
		return status;
	migrate.statuses = memory_allocate_array(migration_file_count, sizeof(*migrate.statuses));
	if (option_is_given(session->options, OPTION_SHOW_STATUS))
		status = show(&migrate, false);
	else if (option_is_given(session->options, OPTION_DRY_RUN))
		status = show(&migrate, true);
	else
		status = apply(&migrate);
	free(migrate.statuses);
	return status;
}
