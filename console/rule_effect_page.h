/*
 * rule_effect_page - the part of a page that says which later orders a change of the timeout rules
 * concerns; shown before it is confirmed.
 */
#ifndef CONSOLE_RULE_EFFECT_PAGE_H
#define CONSOLE_RULE_EFFECT_PAGE_H

#include "console/html.h"
#include "console/visit.h"

struct json;

/* What rule_effect_of_adding or rule_effect_of_ending gave. */
void rule_effect_page_write(
	const struct visit *visit, struct html *html, const struct json *effect);

/* The set of rules that was shown, which comes back with the form.  false: it is missing, and the
 * visit has been answered with 400; a caller of the API may leave it out: NULL. */
bool rule_effect_page_read_shown(struct visit *visit, const char **shown_out);
void rule_effect_page_hide_shown(struct html *html, const struct json *effect);

#endif
