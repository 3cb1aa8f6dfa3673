/*
 * bulk_page - a bulk requeue: what it would take, its start, its progress and its end.
 */
#ifndef CONSOLE_BULK_PAGE_H
#define CONSOLE_BULK_PAGE_H

#include "console/html.h"
#include "console/visit.h"

/* On the list of tasks. */
void bulk_page_write_link(const struct visit *visit, struct html *html);

void bulk_page_preview(struct visit *visit);
void bulk_page_start(struct visit *visit);
void bulk_page_show(struct visit *visit);
void bulk_page_stop(struct visit *visit);

#endif
