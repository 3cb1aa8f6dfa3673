/*
 * alert_body - messages for machines: Alertmanager's webhook, version 4, and what Alertmanager
 * itself takes.
 */
#ifndef COMMON_REPORT_ALERT_BODY_H
#define COMMON_REPORT_ALERT_BODY_H

#include "common/base/compiler.h"
#include "common/report/alert_news.h"

enum {
	ALERT_BODY_ID_SIZE = 4 + 16 + 1
};

/* Both owned by the caller. */

/* The webhook of version 4, with every row; there is at least one. */
MUST_USE char *alert_body_write(const struct alert_news *news, const char *receiver);
/* POST /api/v2/alerts: one alert for each group that fires, ending later, and one that has ended
 * for each group of resolved rows of which nothing fires any more. */
MUST_USE char *alert_body_write_groups(const struct alert_news *news);

/* "msg_<16 digits>": the same for the same rows in the same state, so also when sent again. */
void alert_body_format_id(
	const struct alert_news *news, const char *receiver, char id[ALERT_BODY_ID_SIZE]);

#endif
