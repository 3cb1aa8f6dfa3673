#include "common/report/task_summary.h"

#include <string.h>

#include "common/base/text.h"
#include "common/io/db_rows.h"
#include "common/order/id_list.h"
#include "common/report/listing_kind.h"

/* The kind whose oldest is the oldest of all comes first. */
static void take_rows(struct db_rows *rows, struct task_summary *summary)
{
	while (db_rows_next(rows)) {
		size_t used = strlen(summary->kinds);

		(void)text_format(summary->kinds + used, sizeof(summary->kinds) - used, "%s%s %s",
			used == 0 ? "" : ", ", db_rows_text(rows, 0, NULL),
			db_rows_text(rows, 1, NULL));
		if (used > 0)
			continue;
		(void)text_copy(summary->oldest_at, sizeof(summary->oldest_at),
			db_rows_text(rows, 2, NULL));
		summary->oldest_age_s = db_rows_uint(rows, 3);
	}
}

enum result task_summary_read(struct db *db, const uint64_t *ids, size_t count,
	struct task_summary *summary_out, struct error *error)
{
	const struct id_statement statement = {
		.head = "SELECT CAST(kind AS CHAR), CAST(COUNT(*) AS CHAR), " LISTING_TIME(
			"MIN(created_at)") ", GREATEST(TIMESTAMPDIFF(SECOND, MIN(created_at), "
					   "UTC_TIMESTAMP(3)), 0) FROM t_compensation WHERE id IN ",
		.tail = " GROUP BY kind ORDER BY MIN(created_at), kind",
		.ids = ids,
		.count = count,
	};
	struct db_rows *rows = NULL;

	*summary_out = (struct task_summary){ .oldest_age_s = 0 };
	enum result result = id_list_query(db, &statement, &rows, error);
	if (result == RESULT_OK)
		take_rows(rows, summary_out);
	db_rows_destroy(&rows);
	return result == RESULT_NONE ? RESULT_OK : result;
}
