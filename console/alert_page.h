/*
 * alert_page - acts on alerts: silence one for a while, send it again.
 */
#ifndef CONSOLE_ALERT_PAGE_H
#define CONSOLE_ALERT_PAGE_H

#include "console/html.h"
#include "console/visit.h"

struct json;

/* On the list, and on the page of an alert. */
void alert_page_write_acts(const struct visit *visit, struct html *html);
void alert_page_write_row_acts(
	const struct visit *visit, struct html *html, const struct json *record);

void alert_page_ask_silence(struct visit *visit);
void alert_page_silence(struct visit *visit);
void alert_page_resend(struct visit *visit);
void alert_page_test(struct visit *visit);

#endif
