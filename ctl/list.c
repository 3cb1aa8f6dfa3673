#include "ctl/list.h"

#include <stdio.h>

#include "common/base/text.h"
#include "ctl/session.h"
#include "ctl/table.h"

enum {
	LIMIT_DEFAULT = 50,
	COLUMN_MAX = 20
};

/* Which option stands for which filter. */
static const struct {
	enum option option;
	const char *filter;
} names[] = {
	{ OPTION_STATUS, "state" },
	{ OPTION_STATE, "state" },
	{ OPTION_KIND, "kind" },
	{ OPTION_TARGET, "target" },
	{ OPTION_ORDER, "order" },
	{ OPTION_ERROR, "error" },
	{ OPTION_OLDER_THAN, "older_than" },
	{ OPTION_OVERDUE_BY, "overdue_by" },
	{ OPTION_CLOSED_FROM, "closed_from" },
	{ OPTION_CLOSED_TO, "closed_to" },
	{ OPTION_CLOSE_REASON, "reason" },
	{ OPTION_SOURCE, "source" },
	{ OPTION_TYPE, "type" },
	{ OPTION_OUTCOME, "outcome" },
	{ OPTION_REFUND_STATE, "refund_state" },
	{ OPTION_CHANNEL, "channel" },
	{ OPTION_WHO, "actor" },
	{ OPTION_ACT, "act" },
	{ OPTION_RESULT, "result" },
	{ OPTION_AT_FROM, "from" },
	{ OPTION_AT_TO, "to" },
};

_Static_assert(ARRAY_LENGTH(names) == LIST_VALUE_MAX, "one value for each");

/* One run. */
struct list {
	const struct session *session;
	const struct listing_kind *kind;
	struct listing_value values[LIST_VALUE_MAX];
	struct listing_request request;
	struct table_column columns[COLUMN_MAX];
	struct table *table;
	char next[LISTING_CURSOR_SIZE];
	char words[LISTING_WORDS_SIZE];
};

static enum table_kind find_table_kind(enum listing_type type)
{
	switch (type) {
	case LISTING_TYPE_NUMBER:
	case LISTING_TYPE_COUNT:
		return TABLE_KIND_NUMBER;
	case LISTING_TYPE_BOOL:
		return TABLE_KIND_BOOL;
	case LISTING_TYPE_TEXT:
	case LISTING_TYPE_TIME:
	case LISTING_TYPE_ID:
		return TABLE_KIND_TEXT;
	}
	return TABLE_KIND_TEXT;
}

/* A "1" of the list is a "yes" of the table. */
static const char *find_value(const struct list *list, const char *value, size_t column)
{
	if (list->columns[column].kind != TABLE_KIND_BOOL || value == NULL)
		return value;
	return text_equals(value, "1") ? "yes" : "no";
}

size_t list_read_values(const struct session *session, struct listing_value *values)
{
	size_t count = 0;

	for (size_t i = 0; i < ARRAY_LENGTH(names); i++)
		if (option_is_given(session->options, names[i].option))
			values[count++] = (struct listing_value){ names[i].filter,
				option_text(session->options, names[i].option) };
	return count;
}

static void begin(struct list *list, const struct session *session, const char *kind)
{
	size_t count = 0;

	*list = (struct list){ .session = session, .kind = listing_find(kind) };
	const struct listing_column *columns = listing_columns(list->kind, &count);
	REQUIRE(count <= COLUMN_MAX);
	for (size_t i = 0; i < count; i++)
		list->columns[i] =
			(struct table_column){ columns[i].name, find_table_kind(columns[i].type) };
	list->table = table_create(list->columns, count);
	list->request.values = list->values;
	list->request.value_count = list_read_values(session, list->values);
	list->request.after = option_text(session->options, OPTION_PLACE);
}

static void take_page(struct list *list, const struct listing_page *page)
{
	const char *values[COLUMN_MAX];

	for (size_t row = 0; row < listing_page_count(page); row++) {
		for (size_t i = 0; i < table_column_count(list->table); i++)
			values[i] = find_value(list, listing_page_value(page, row, i), i);
		table_add(list->table, values);
	}
	(void)text_copy(list->next, sizeof(list->next), listing_page_next(page));
	(void)text_copy(list->words, sizeof(list->words), listing_page_words(page));
}

/* Page by page, until there are as many as are wanted. */
static enum result read_pages(struct list *list, uint64_t limit, struct error *error)
{
	enum result result = RESULT_OK;

	do {
		struct listing_page *page = NULL;
		uint64_t missing = limit - table_count(list->table);

		list->request.limit =
			(uint32_t)(missing < LISTING_PAGE_MAX ? missing : LISTING_PAGE_MAX);
		result = listing_read(list->session->db, list->kind, &list->request, &page, error);
		if (result != RESULT_OK)
			return result;
		take_page(list, page);
		listing_page_destroy(&page);
		list->request.after = list->next;
	} while (list->next[0] != '\0' && table_count(list->table) < limit);
	return RESULT_OK;
}

static int read_and_print(struct list *list)
{
	const struct session *session = list->session;
	struct error error = { .text = "" };
	enum result result = read_pages(
		list, option_number(session->options, OPTION_LIMIT, LIMIT_DEFAULT), &error);

	if (result != RESULT_OK)
		return session_fail(session, result, &error);
	table_print(list->table, &session->output, stdout);
	if (table_count(list->table) == 0)
		output_say(&session->output, "no %s: %s", listing_name(list->kind), list->words);
	else if (list->next[0] != '\0')
		output_say(&session->output, "there is more: --after %s shows the next page",
			list->next);
	return EXIT_STATUS_OK;
}

static int run(const struct session *session, const char *kind)
{
	struct list list;
	struct error error = { .text = "" };
	int status;

	begin(&list, session, kind);
	if (listing_check(list.kind, &list.request, &error) != RESULT_OK) {
		status = session_refuse_usage(error.text);
	} else {
		status = session_connect_to_schema(session);
		if (status == EXIT_STATUS_OK)
			status = read_and_print(&list);
	}
	table_destroy(&list.table);
	return status;
}

int list_tasks_run(const struct session *session)
{
	return run(session, "tasks");
}

int list_orders_run(const struct session *session)
{
	return run(session, "orders");
}

int list_outbox_run(const struct session *session)
{
	return run(session, "outbox");
}

int list_payments_run(const struct session *session)
{
	return run(session, "payments");
}

int list_alerts_run(const struct session *session)
{
	return run(session, "alerts");
}

int list_audit_run(const struct session *session)
{
	return run(session, "audit");
}
