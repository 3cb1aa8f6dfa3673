/*
 * order_page - acts on orders: close one by hand, move its deadline later.
 */
#ifndef CONSOLE_ORDER_PAGE_H
#define CONSOLE_ORDER_PAGE_H

#include "console/html.h"
#include "console/visit.h"

struct json;

void order_page_write_acts(const struct visit *visit, struct html *html, const struct json *record);

void order_page_ask_close(struct visit *visit);
void order_page_close(struct visit *visit);
void order_page_ask_extend(struct visit *visit);
void order_page_extend(struct visit *visit);

#endif
