/*
 * alert_news - what one message tells: rows of one group, or a test.
 */
#ifndef COMMON_REPORT_ALERT_NEWS_H
#define COMMON_REPORT_ALERT_NEWS_H

#include <stdbool.h>
#include <stddef.h>

#include "common/order/alert_delivery.h"
#include "common/report/alert_origin.h"

/* Everything is borrowed. */
struct alert_news {
	const struct alert_row *const *rows;    /* of one group; of any group when firing is set */
	size_t count;                           /* 0: only what fires */
	const struct alert_firing_list *firing; /* all that fires; NULL where nobody asks */
	const struct alert_origin *origin;
	bool is_test;
};

/* Alerts of one group are told in one message: the same kind, rule and label kind. */
bool alert_news_is_same_group(const struct alert_row *one, const struct alert_row *other);
size_t alert_news_count_firing(const struct alert_news *news);
/* The row of a test message, which stands in no table. */
void alert_news_make_test(enum alert_language language, uint64_t epoch_ms, struct alert_row *row);

#endif
