#include "common/report/alert_news.h"

#include <string.h>

#include "common/base/text.h"
#include "common/report/alert_words.h"

bool alert_news_is_same_group(const struct alert_row *one, const struct alert_row *other)
{
	return one->kind == other->kind && text_equals(one->task_kind, other->task_kind) &&
	       text_equals(alert_origin_rule(one->kind, one->ref),
		       alert_origin_rule(other->kind, other->ref));
}

size_t alert_news_count_firing(const struct alert_news *news)
{
	size_t firing = 0;

	for (size_t i = 0; i < news->count; i++)
		firing += news->rows[i]->is_resolved ? 0 : 1;
	return firing;
}

void alert_news_make_test(enum alert_language language, uint64_t epoch_ms, struct alert_row *row)
{
	memset(row, 0, sizeof(*row));
	row->kind = ALERT_KIND_THRESHOLD;
	row->severity = ALERT_SEVERITY_INFO;
	row->fired_count = 1;
	text_format_time(row->fired_at, sizeof(row->fired_at), epoch_ms);
	(void)text_copy(row->ref, sizeof(row->ref), "LapseTest");
	(void)text_format(
		row->summary, sizeof(row->summary), "TEST: %s", alert_words_test(language));
}
