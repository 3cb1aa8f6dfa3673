/*
 * bulk_preview - the page that shows what a bulk requeue would take, before it is started.
 */
#ifndef CONSOLE_BULK_PREVIEW_H
#define CONSOLE_BULK_PREVIEW_H

#include "console/visit.h"

enum {
	BULK_PREVIEW_ADMIN_MAX = 5000
};

/* How many rows this person may take at once; 0: no bulk. */
size_t bulk_preview_limit(const struct visit *visit);
void bulk_preview_show(struct visit *visit);

#endif
