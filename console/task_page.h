/*
 * task_page - acts on compensation tasks: requeue one or a selection, resolve.
 */
#ifndef CONSOLE_TASK_PAGE_H
#define CONSOLE_TASK_PAGE_H

#include "console/html.h"
#include "console/visit.h"

struct json;

/* On the page of a task. */
void task_page_write_acts(const struct visit *visit, struct html *html, const struct json *record);

/* Pages that ask, and the acts behind them. */
void task_page_ask_requeue(struct visit *visit);
void task_page_requeue(struct visit *visit);
void task_page_ask_requeue_selected(struct visit *visit);
void task_page_requeue_selected(struct visit *visit);
void task_page_ask_resolve(struct visit *visit);
void task_page_resolve(struct visit *visit);

#endif
