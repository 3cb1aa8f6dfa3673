#include "common/order/alert_row.h"

#include <assert.h>
#include <string.h>

#include "common/base/text.h"
#include "common/io/db.h"
#include "common/io/json.h"

enum {
	JSON_MAX = 8192 /* of labels and annotations; longer ones are left out */
};

static_assert(JSON_MAX == 8192 && ALERT_TARGETS_SIZE == 2048, "the columns know these numbers too");

static size_t find_name(const char *const *names, const char *name)
{
	size_t place = text_find(names, name);

	REQUIRE(names[place] != NULL); /* the column knows these words only */
	return place;
}

void alert_row_copy_time(const struct db_rows *rows, size_t column, char time[ALERT_TIME_SIZE])
{
	size_t size = 0;
	const char *text = db_rows_text(rows, column, &size);

	time[0] = '\0';
	if (size > 3)
		(void)text_format(time, ALERT_TIME_SIZE, "%.*sZ", (int)(size - 3), text);
}

static void copy_value(char *target, size_t target_size, const char *value)
{
	if (value != NULL)
		(void)text_clip(target, target_size, value, strlen(value));
}

static void read_labels(const char *text, size_t size, struct alert_row *row)
{
	struct json *labels = NULL;

	if (json_parse(text, size, JSON_MAX, &labels, NULL) == RESULT_OK)
		copy_value(row->task_kind, sizeof(row->task_kind), json_get_text(labels, "kind"));
	json_destroy(&labels);
}

static void read_annotations(const char *text, size_t size, struct alert_row *row)
{
	struct json *annotations = NULL;
	const char *digits = NULL;
	uint64_t calls = 0;

	if (json_parse(text, size, JSON_MAX, &annotations, NULL) != RESULT_OK)
		return;
	copy_value(row->summary, sizeof(row->summary), json_get_text(annotations, "summary"));
	copy_value(row->description, sizeof(row->description),
		json_get_text(annotations, "description"));
	copy_value(row->order_no, sizeof(row->order_no), json_get_text(annotations, "order_no"));
	digits = json_get_text(annotations, "calls");
	if (digits != NULL && text_parse_uint(digits, 0, UINT32_MAX, &calls))
		row->calls = (uint32_t)calls;
	json_destroy(&annotations);
}

void alert_row_read(const struct db_rows *rows, struct alert_row *row)
{
	size_t size = 0;
	const char *text = NULL;

	memset(row, 0, sizeof(*row));
	row->id = db_rows_uint(rows, 0);
	row->kind = (enum alert_kind)find_name(alert_kind_names, db_rows_text(rows, 1, NULL));
	row->severity =
		(enum alert_severity)find_name(alert_severity_names, db_rows_text(rows, 2, NULL));
	row->delivery = (enum alert_delivery_state)find_name(
		alert_delivery_state_names, db_rows_text(rows, 3, NULL));
	row->is_resolved = db_rows_uint(rows, 4) != 0;
	row->is_silenced = db_rows_uint(rows, 5) != 0;
	(void)text_copy(row->ref, sizeof(row->ref), db_rows_text(rows, 6, NULL));
	text = db_rows_text(rows, 7, &size);
	read_labels(text, size, row);
	text = db_rows_text(rows, 8, &size);
	read_annotations(text, size, row);
	alert_row_copy_time(rows, 9, row->fired_at);
	if (row->is_resolved)
		alert_row_copy_time(rows, 10, row->resolved_at);
	alert_row_copy_time(rows, 11, row->silenced_until);
	row->age_s = db_rows_uint(rows, 12);
	row->fired_count = (uint32_t)db_rows_uint(rows, 13);
	row->repeat_count = (uint32_t)db_rows_uint(rows, 14);
	row->attempts = (uint32_t)db_rows_uint(rows, 15);
	(void)text_copy(row->targets, sizeof(row->targets), db_rows_text(rows, 16, NULL));
}
