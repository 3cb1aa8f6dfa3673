/*
 * alert_origin - what every message says about where it comes from, and the addresses of the pages
 * it links to.
 */
#ifndef COMMON_REPORT_ALERT_ORIGIN_H
#define COMMON_REPORT_ALERT_ORIGIN_H

#include "common/order/alert.h"

enum {
	ALERT_URL_SIZE = 640
};

enum alert_language {
	ALERT_LANGUAGE_EN,
	ALERT_LANGUAGE_ZH_CN,
};

/* The words of LAPSE_CONSOLE_LANG: "en", "zh-CN", NULL. */
extern const char *const alert_language_names[];

/* Borrowed texts; all may be NULL but env. */
struct alert_origin {
	const char *env;
	const char *console_url;
	const char *runbook_url;
	enum alert_language language;
};

/* "LapseTaskDead"; of a THRESHOLD its own name, which is ref. */
const char *alert_origin_rule(enum alert_kind kind, const char *ref);
/* "task", "order", "outbox row", "rule". */
const char *alert_origin_thing(enum alert_kind kind);
/* Where the console lists what needs a person, and shows one; "" without a console. */
void alert_origin_format_list(
	const struct alert_origin *origin, enum alert_kind kind, char url[ALERT_URL_SIZE]);
void alert_origin_format_one(const struct alert_origin *origin, enum alert_kind kind,
	const char *ref, char url[ALERT_URL_SIZE]);
/* The section of the runbook; "" without one. */
void alert_origin_format_runbook(const struct alert_origin *origin, enum alert_kind kind,
	const char *ref, char url[ALERT_URL_SIZE]);

#endif
