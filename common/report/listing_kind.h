/*
 * listing_kind - what listing knows about each kind: columns, filters, orders, all by table.
 *
 * An inner statement over the table alone chooses the rows of a page; the outer one fetches the
 * columns of the few that are shown.
 */
#ifndef COMMON_REPORT_LISTING_KIND_H
#define COMMON_REPORT_LISTING_KIND_H

#include "common/report/listing_tally.h"

enum {
	LISTING_COLUMN_MAX = 24,
	LISTING_FILTER_MAX = 12,
	LISTING_STAGE_MAX = 2,
};

enum listing_form {
	LISTING_FORM_WORD,     /* one of the words, in any case; "all" sets no condition */
	LISTING_FORM_KEY,      /* letters, digits, ".", "_", ":", "-" */
	LISTING_FORM_PREFIX,   /* a key, or the beginning of one with "*" behind it */
	LISTING_FORM_TEXT,     /* any text up to 128 bytes */
	LISTING_FORM_DURATION, /* in microseconds for the statement */
	LISTING_FORM_TIME,
	LISTING_FORM_ID,
	LISTING_FORM_TARGET, /* "task", or "task:12": two conditions */
};

/* How a filter becomes SQL. */
struct listing_condition {
	enum listing_form form;
	const char *sql;       /* with one ?, about t */
	const char *other_sql; /* PREFIX: for a beginning; TARGET: for what follows the ":" */
	const char *const
		*words_sql; /* WORD: one for each word, without ?; NULL: sql with the word */
	const char *words;  /* how a sentence begins: "older than" */
};

enum listing_key {
	LISTING_KEY_ID,   /* the id alone */
	LISTING_KEY_TIME, /* a time, then the id */
	LISTING_KEY_TEXT, /* a unique text */
};

/* In which order rows are read, and by which index. */
struct listing_order {
	const char *hint; /* behind the name of the table, with a blank before it; "": none */
	enum listing_key key;
	const char *column; /* "t.expire_time"; of an ID "t.id" */
	const char *shown;  /* the name of the column that shows it */
	bool is_descending;
};

/* One part of a list that is shown part by part; sql "" where nothing is added. */
struct listing_stage {
	const char *sql;
	const struct listing_order *order;
};

/* Which filters are given, by their place in the table of filters; NULL: not given. */
struct listing_given {
	const char *values[LISTING_FILTER_MAX];
};

struct listing_kind {
	const char *name;
	const char *table;
	const struct listing_column *columns;
	size_t column_count;
	const struct listing_filter *filters;
	const struct listing_condition *conditions; /* in the order of filters */
	size_t filter_count;
	/* Fills in the parts, at least one, and says the default in words where there is one. */
	size_t (*plan)(const struct listing_given *given,
		struct listing_stage stages[LISTING_STAGE_MAX], const char **words_out);
	const struct listing_tally *tally; /* may be NULL */
};

extern const struct listing_kind listing_tasks;
extern const struct listing_kind listing_orders;
extern const struct listing_kind listing_outbox;
extern const struct listing_kind listing_payments;
extern const struct listing_kind listing_rules;
extern const struct listing_kind listing_alerts;
extern const struct listing_kind listing_audit;

#define LISTING_TIME(column) \
	"CONCAT(LEFT(DATE_FORMAT(" column ", '%Y-%m-%dT%H:%i:%s.%f'), 23), 'Z')"
#define LISTING_TEXT(column) "CAST(" column " AS CHAR)"
/* Columns of the table, about x: a text, a word of an ENUM, a number, a time, the id; another. */
#define LISTING_TEXT_COLUMN(name)                    \
	{                                            \
#name, LISTING_TYPE_TEXT, "x." #name \
	}
#define LISTING_WORD_COLUMN(name)                                  \
	{                                                          \
#name, LISTING_TYPE_TEXT, LISTING_TEXT("x." #name) \
	}
#define LISTING_NUMBER_COLUMN(name)                                  \
	{                                                            \
#name, LISTING_TYPE_NUMBER, LISTING_TEXT("x." #name) \
	}
#define LISTING_TIME_COLUMN(name)                                  \
	{                                                          \
#name, LISTING_TYPE_TIME, LISTING_TIME("x." #name) \
	}
#define LISTING_ID_COLUMN(name)                                  \
	{                                                        \
#name, LISTING_TYPE_ID, LISTING_TEXT("x." #name) \
	}
#define LISTING_OTHER_COLUMN(name, type, sql)  \
	{                                      \
		name, LISTING_TYPE_##type, sql \
	}
#define LISTING_AGE_COLUMN                    \
	LISTING_OTHER_COLUMN("age_s", NUMBER, \
		"CAST(TIMESTAMPDIFF(SECOND, x.created_at, UTC_TIMESTAMP(3)) AS CHAR)")
#define LISTING_ERROR_COLUMN LISTING_OTHER_COLUMN("last_error", TEXT, "LEFT(x.last_error, 120)")

#endif
