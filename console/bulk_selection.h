/*
 * bulk_selection - the rows that a preview has shown, as one text that travels in its form.
 *
 * It holds filter, highest id, time and count, and is signed for one person as forms are, so that
 * every console with the same secret can open it.  What has died or changed since is not in it.
 */
#ifndef CONSOLE_BULK_SELECTION_H
#define CONSOLE_BULK_SELECTION_H

#include "common/report/listing_count.h"
#include "console/buffer.h"
#include "console/list.h"
#include "console/visit.h"

enum {
	BULK_NUMBER_SIZE = 24
};

/* Must not be moved: the request points into it. */
struct bulk_selection {
	struct list_request list; /* DEAD tasks, up to the highest id, unchanged since */
	struct listing_count count;
	char highest[BULK_NUMBER_SIZE];
	struct form *fields; /* of one that was opened; NULL */
};

/* The request of list is filled in; count is what it gave.  From now on no other row fits it.
 * false: there is no room for two more filters. */
bool bulk_selection_freeze(struct bulk_selection *selection);
/* Of one that is frozen; the text is the caller's. */
void bulk_selection_seal(
	const struct visit *visit, const struct bulk_selection *selection, struct buffer *text_out);
/* false: the visit has been answered with 409: not signed by us for this person, or too old. */
bool bulk_selection_open(
	struct visit *visit, const char *text, struct bulk_selection *selection_out);
void bulk_selection_clear(struct bulk_selection *selection);

#endif
