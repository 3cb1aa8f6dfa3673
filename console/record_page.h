/*
 * record_page - one row with everything around it, as a page or as JSON.
 */
#ifndef CONSOLE_RECORD_PAGE_H
#define CONSOLE_RECORD_PAGE_H

#include "common/base/result.h"
#include "console/html.h"
#include "console/visit.h"

struct db;
struct json;

/* The row that stands behind the first part of the path. */
void record_page_show(struct visit *visit);

/* Reads it, or answers the visit and gives NULL.  The caller owns it. */
struct json *record_page_read(struct visit *visit, const char *kind, const char *id);
/* A member of a record: an object as a list of properties, an array as a table. */
void record_page_write(
	const struct visit *visit, struct html *html, const char *name, const struct json *value);
/* What the row of the visit is now, since when, and who acted on it by hand; nothing when it cannot
 * be told. */
void record_page_write_now(struct visit *visit, struct html *html, struct db *db);
/* "" when it is not there. */
const char *record_page_text(const struct json *object, const char *key);

#endif
