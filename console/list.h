/*
 * list - a list of rows as a page, as JSON and as a file: filters in the address, pages by key,
 * three empty states.
 */
#ifndef CONSOLE_LIST_H
#define CONSOLE_LIST_H

#include "common/report/listing.h"
#include "console/visit.h"

struct buffer;
struct html;

/* One list; those of all kinds stand in list_views.c. */
struct list_view {
	const char *kind;       /* of listing */
	const char *path;       /* "/tasks" */
	const char *title;      /* a PHRASE, as all texts below */
	const char *key_column; /* leads to the page of a row, at path; NULL: none */
	const char *ticks_path; /* rows can be ticked, and their ids go there; NULL: they cannot */
	const char *ticks_button;
	const char *ticks_column; /* goes along with the id, as "17:5"; NULL: the id alone */
	const char *clear;        /* shown when there is nothing and no filter */
	/* What can be done on top of the list; may be NULL. */
	void (*write_acts)(const struct visit *visit, struct html *html);
};

/* The list whose path is the beginning of the visit's; never NULL for a list's own routes. */
const struct list_view *list_find(const struct visit *visit);

/* Handler of "/tasks" and its likes. */
void list_show(struct visit *visit);

enum {
	LIST_VALUE_MAX = 32
};

/* The filters of the address, but for the names that belong to the page.  Values are borrowed from
 * the visit. */
struct list_request {
	struct listing_request request;
	struct listing_value values[LIST_VALUE_MAX];
};
/* PERMANENT: too many, or limit is no number. */
MUST_USE enum result list_read_request(
	const struct visit *visit, struct list_request *request_out, struct error *error);
/* The same, and each filter is one of kind.  false: one is wrong, nobody was asked, and the visit
 * has been answered with 400 and what is allowed. */
bool list_read_and_check(
	struct visit *visit, const struct listing_kind *kind, struct list_request *request);
/* path, and the filters of the request with their values behind "?"; the caller adds "&..." */
void list_add_address(const char *path, const struct list_request *request, struct buffer *buffer);

#endif
