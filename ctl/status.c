#include "ctl/status.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/io/db.h"
#include "ctl/command.h"
#include "ctl/migration.h"
#include "ctl/table.h"
#include "version.h"

int status_run(const struct command_context *context)
{
	static const struct table_column columns[] = { { "schema_version", TABLE_KIND_NUMBER },
		{ "needed", TABLE_KIND_NUMBER } };
	struct migration_status *statuses = NULL;
	struct error error = { 0 };
	uint32_t newest = 0;
	char version[16];
	char needed[16];
	const char *const values[] = { version, needed };
	int status = command_connect(context);

	if (status != EXIT_STATUS_OK)
		return status;
	statuses = memory_allocate_array(migration_file_count, sizeof(*statuses));
	enum result result = migration_list(
		context->db, migration_files, migration_file_count, statuses, &newest, &error);
	free(statuses);
	if (result != RESULT_OK)
		return command_fail(context, result, &error);
	struct table *table = table_create(columns, ARRAY_LENGTH(columns));
	(void)text_format(version, sizeof(version), "%" PRIu32, newest);
	(void)text_format(needed, sizeof(needed), "%d", LAPSE_SCHEMA_VERSION);
	table_add(table, values);
	table_print(table, &context->output, stdout);
	table_destroy(&table);
	return option_is_given(context->options, OPTION_CHECK) && newest < LAPSE_SCHEMA_VERSION
		       ? EXIT_STATUS_FAILED
		       : EXIT_STATUS_OK;
}
