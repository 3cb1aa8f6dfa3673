/*
 * list_page - a list as a page: filters, what they mean in words, rows, and where to go on.
 */
#ifndef CONSOLE_LIST_PAGE_H
#define CONSOLE_LIST_PAGE_H

#include "console/list.h"

void list_page_answer(struct visit *visit, const struct list_view *view,
	const struct list_request *request, const struct listing_page *page);
/* 503 with the filters and the reason, never a zero. */
void list_page_answer_unknown(struct visit *visit, const struct list_view *view,
	const struct list_request *request, const char *why);

#endif
