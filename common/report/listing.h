/*
 * listing - rows of one kind for people: filters by name and value, pages by key, columns by table.
 *
 * Kinds: tasks, orders, outbox, payments, rules, alerts, audit.  A page is one statement with a
 * time limit in the server; it never counts rows, never skips rows, and reads no payloads.  Names
 * and values of filters come from outside and are checked here.
 */
#ifndef COMMON_REPORT_LISTING_H
#define COMMON_REPORT_LISTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/result.h"

struct db;
struct json;
struct listing_counts;
struct listing_kind;
struct listing_page;

enum {
	LISTING_PAGE_MAX = 200,
	LISTING_PAGE_DEFAULT = 50,
	LISTING_CURSOR_SIZE = 128,
	LISTING_WORDS_SIZE = 768,
	LISTING_TIME_LIMIT_S = 3,
};

enum listing_type {
	LISTING_TYPE_TEXT,
	LISTING_TYPE_NUMBER, /* a whole number, in the unit of its name */
	LISTING_TYPE_TIME,   /* ISO 8601 with Z */
	LISTING_TYPE_ID,     /* 64 bits: a string in JSON */
	LISTING_TYPE_BOOL,   /* "1" or "0" */
	LISTING_TYPE_COUNT,  /* a whole number; NULL: unknown */
};

struct listing_column {
	const char *name; /* the key in JSON */
	enum listing_type type;
	const char *sql;
};

struct listing_filter {
	const char *name;         /* as in ?name=value and --name value */
	const char *form;         /* what a value looks like, for people */
	const char *const *words; /* the allowed values, ended by NULL; NULL: any of that form */
};

struct listing_value {
	const char *name;
	const char *value; /* NULL or "": as if it were not given */
};

/* All zero: the first page as the kind is shown by default. */
struct listing_request {
	const struct listing_value *values;
	size_t value_count;
	const char *after; /* listing_page_next of the page before; NULL or "": the first page */
	uint32_t limit;    /* rows, at most LISTING_PAGE_MAX; 0: LISTING_PAGE_DEFAULT */
};

/* Ended by NULL. */
extern const char *const listing_kind_names[];
/* NULL: there is no such kind. */
const struct listing_kind *listing_find(const char *name);
const char *listing_name(const struct listing_kind *kind);
const struct listing_column *listing_columns(const struct listing_kind *kind, size_t *count_out);
const struct listing_filter *listing_filters(const struct listing_kind *kind, size_t *count_out);

/* PERMANENT with words that name what is allowed: an unknown filter, a filter given twice, a value
 * that cannot be, a place that is not one of ours, a limit that is too large.  Asks nobody. */
MUST_USE enum result listing_check(const struct listing_kind *kind,
	const struct listing_request *request, struct error *error);

/* One page; OK also when it is empty.  PERMANENT as listing_check; TEMPORARY also: it took longer
 * than the time limit.  The caller owns the page. */
MUST_USE enum result listing_read(struct db *db, const struct listing_kind *kind,
	const struct listing_request *request, struct listing_page **page_out, struct error *error);
void listing_page_destroy(struct listing_page **page);

/* What is counted for all rows together (orders of rules), once for many pages; NULL where nothing
 * is.  OK also when it could not be counted in time: it is unknown then, NULL in its column. */
MUST_USE enum result listing_counts_read(struct db *db, const struct listing_kind *kind,
	struct listing_counts **counts_out, struct error *error);
void listing_counts_destroy(struct listing_counts **counts);
/* listing_read with these counts instead of its own. */
MUST_USE enum result listing_read_counted(struct db *db, const struct listing_kind *kind,
	const struct listing_request *request, const struct listing_counts *counts,
	struct listing_page **page_out, struct error *error);

size_t listing_page_count(const struct listing_page *page);
/* Borrowed from the page; NULL: SQL NULL. */
const char *listing_page_value(const struct listing_page *page, size_t row, size_t column);
/* The same by the name of the column, which the kind must have. */
const char *listing_page_named(const struct listing_page *page, size_t row, const char *name);
/* Where the next page begins; "" when this is the last one. */
const char *listing_page_next(const struct listing_page *page);
/* The filter in words: "status DEAD or PENDING after a failure, order A1". */
const char *listing_page_words(const struct listing_page *page);
/* Rows as an array of objects, owned by the caller. */
MUST_USE struct json *listing_page_to_json(const struct listing_page *page);

#endif
