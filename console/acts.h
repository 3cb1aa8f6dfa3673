/*
 * acts - what pages of acts have in common: a page that asks, and the ids of a selection.
 */
#ifndef CONSOLE_ACTS_H
#define CONSOLE_ACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/order/act_task.h"
#include "console/html.h"
#include "console/visit.h"

/* An id in the path.  false: it is none, and the visit has been answered with 404. */
bool acts_read_id(struct visit *visit, uint64_t *id_out);
/* The values named "id" of a form or a query, at most max.  false: one is no id, there are none or
 * too many, and the visit has been answered with 400. */
bool acts_read_ids(struct visit *visit, const struct form *form, uint64_t *ids_out, size_t max,
	size_t *count_out);
/* The same for ticked tasks: an id, and ":" with the retry_count that was shown. */
bool acts_read_ticks(struct visit *visit, const struct form *form, struct act_task *tasks_out,
	size_t max, size_t *count_out);

/* A link that looks like a button. */
void acts_write_link(
	const struct visit *visit, struct html *html, const char *path, const char *english);
/* A field for the reason, which the act asks for. */
void acts_write_reason(const struct visit *visit, struct html *html);

/* One row of the answer to an act on a selection. */
struct acts_row {
	uint64_t id;
	const char *outcome; /* a word */
	const char *words;
	uint64_t audit_id;
};
/* A page or a document with what became of each; folder: "/tasks/". */
void acts_answer_rows(struct visit *visit, const char *title, const char *folder,
	const struct acts_row *rows, size_t count);

#endif
