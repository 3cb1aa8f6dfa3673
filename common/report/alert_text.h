/*
 * alert_text - messages for people in a robot's markup: a title, a line for each of the first
 * alerts, how many there are beside them, a link to the console.
 *
 * What comes from rows is data: it can form no link, no mention and no markup.  No buyer data.
 */
#ifndef COMMON_REPORT_ALERT_TEXT_H
#define COMMON_REPORT_ALERT_TEXT_H

#include <stddef.h>

#include "common/base/compiler.h"
#include "common/report/alert_news.h"

enum {
	ALERT_TEXT_LIST_MAX = 10,
	ALERT_TITLE_SIZE = 256,
};

enum alert_markup {
	ALERT_MARKUP_PLAIN,
	ALERT_MARKUP_MARKDOWN,
	ALERT_MARKUP_SLACK,
};

struct alert_text_style {
	enum alert_markup markup;
	size_t size_max;        /* bytes of the text, the NUL byte not counted */
	const char *title_mark; /* before the title at the top; NULL: the title stands elsewhere */
	const char *tail;       /* the last line, kept whole: mentions, a keyword; "": none */
};

/* "[FIRING:2] LapseTaskDead (prod)" */
void alert_text_format_title(
	const struct alert_news *news, enum alert_markup markup, char title[ALERT_TITLE_SIZE]);
/* Valid UTF-8 of at most size_max bytes; owned by the caller. */
MUST_USE char *alert_text_write(
	const struct alert_news *news, const struct alert_text_style *style);

#endif
