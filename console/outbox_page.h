/*
 * outbox_page - publishes outbox rows again: one, or a selection.
 */
#ifndef CONSOLE_OUTBOX_PAGE_H
#define CONSOLE_OUTBOX_PAGE_H

#include "console/html.h"
#include "console/visit.h"

struct json;

void outbox_page_write_acts(
	const struct visit *visit, struct html *html, const struct json *record);

void outbox_page_ask_replay(struct visit *visit);
void outbox_page_replay(struct visit *visit);

#endif
