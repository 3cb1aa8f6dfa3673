/*
 * rule_page - acts on timeout rules: add one, end one; and the question which one would win.
 */
#ifndef CONSOLE_RULE_PAGE_H
#define CONSOLE_RULE_PAGE_H

#include "console/html.h"
#include "console/visit.h"

struct json;

/* On the list, and on the page of a rule. */
void rule_page_write_acts(const struct visit *visit, struct html *html);
void rule_page_write_row_acts(
	const struct visit *visit, struct html *html, const struct json *record);

void rule_page_ask_add(struct visit *visit);
void rule_page_add(struct visit *visit);
void rule_page_ask_end(struct visit *visit);
void rule_page_end(struct visit *visit);
void rule_page_test(struct visit *visit);

#endif
