/*
 * cell - one value in a table or a list of properties, by what it is.
 */
#ifndef CONSOLE_CELL_H
#define CONSOLE_CELL_H

#include "common/report/listing.h"
#include "console/html.h"
#include "console/visit.h"

/* <td>; folder: the value leads to folder/value; NULL: an order number leads to its order, and
 * anything else nowhere.  value may be NULL. */
void cell_write(const struct visit *visit, struct html *html, const struct listing_column *column,
	const char *value, const char *folder);
/* What stands inside, of a value whose name is all that is known. */
void cell_write_value(
	const struct visit *visit, struct html *html, const char *name, const char *value);
/* A long text: folded, cut at 4 KiB unless ?all=1. */
void cell_write_long(const struct visit *visit, struct html *html, const char *value);

#endif
