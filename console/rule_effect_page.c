#include "console/rule_effect_page.h"

#include <stdio.h>

#include "common/base/text.h"
#include "common/io/json.h"
#include "common/report/rule_effect.h"
#include "console/page.h"
#include "console/record_page.h"
#include "console/respond.h"

enum {
	NUMBER_SIZE = 24
};

static const char shown_name[] = "rule_set";

/* The lists of both acts, and what is said of an empty one; a list that is not there is not one. */
static const struct {
	const char *name;
	const char *nothing;
} lists[] = {
	{ "takes_from", PHRASE("It takes orders from no other rule.") },
	{ "loses_to", PHRASE("It loses to no other rule.") },
	{ "taken_over_by", PHRASE("No other rule takes over.") },
};

/* What else is said when it is so. */
static const struct {
	const char *name;
	const char *english;
} sentences[] = {
	{ "decides_nothing",
		PHRASE("It decides no order then: it is not valid, or a better rule gets each "
		       "order that it matches.") },
	{ "takes_unmatched", PHRASE("Orders that no rule matches without it get its timeout, too; "
				    "how many is unknown.") },
	{ "leaves_unmatched", PHRASE("Where none of these rules matches, an order has no deadline "
				     "by rule.") },
};

void rule_effect_page_write(const struct visit *visit, struct html *html, const struct json *effect)
{
	char most[NUMBER_SIZE];
	bool is_so = false;

	for (size_t i = 0; i < ARRAY_LENGTH(lists); i++) {
		const struct json *rules = json_get(effect, lists[i].name);

		if (json_count(rules) > 0)
			record_page_write(visit, html, lists[i].name, rules);
		else if (rules != NULL)
			page_element(visit, html, "p", NULL, lists[i].nothing);
	}
	if (json_get_bool(effect, "is_cut", &is_so) && is_so) {
		(void)text_format(most, sizeof(most), "%d", RULE_EFFECT_MAX);
		html_open(html, "p", HTML_END);
		page_fill(visit, html, PHRASE("There are more; the first {1} are shown."), most,
			NULL);
		html_close(html, "p");
	}
	for (size_t i = 0; i < ARRAY_LENGTH(sentences); i++)
		if (json_get_bool(effect, sentences[i].name, &is_so) && is_so)
			page_element(visit, html, "p", "notice", sentences[i].english);
	page_element(visit, html, "p", NULL,
		PHRASE("Of the orders that a rule decided in the last 24 hours, at most as many as "
		       "shown would change. Orders that are there already keep their deadline."));
}

bool rule_effect_page_read_shown(struct visit *visit, const char **shown_out)
{
	*shown_out = form_get(visit->form, shown_name);
	if (*shown_out != NULL || visit->is_api)
		return true;
	respond_problem(visit, 400, PHRASE("The form cannot be read."), shown_name);
	return false;
}

void rule_effect_page_hide_shown(struct html *html, const struct json *effect)
{
	page_hidden(html, shown_name, record_page_text(effect, shown_name));
}
