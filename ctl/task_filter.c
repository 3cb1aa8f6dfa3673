#include "ctl/task_filter.h"

#include <string.h>
#include <strings.h>

#include "common/base/text.h"
#include "common/order/compensation.h"

/* Settled rows are found by their id; the few that are not, by their status. */
static const char status_index[] = " FORCE INDEX (idx_status_next)";

static void add_condition(struct task_filter *filter, const char *sql)
{
	size_t used = strlen(filter->condition);

	REQUIRE(text_format(
		filter->condition + used, sizeof(filter->condition) - used, " AND %s", sql));
}

static void add_param(struct task_filter *filter, struct db_param param)
{
	REQUIRE(filter->param_count < TASK_FILTER_PARAM_MAX);
	filter->params[filter->param_count++] = param;
}

static void add_words(struct task_filter *filter, const char *name, const char *value)
{
	size_t used = strlen(filter->words);

	(void)text_format(filter->words + used, sizeof(filter->words) - used, "%s%s %.64s",
		used == 0 ? "" : ", ", name, value);
}

/* The database's word for what was typed in any case, or NULL. */
static const char *find_word(const char *const *words, const char *typed)
{
	for (size_t i = 0; words[i] != NULL; i++)
		if (strcasecmp(words[i], typed) == 0)
			return words[i];
	return NULL;
}

static enum result add_status(struct task_filter *filter, const char *typed,
	enum task_filter_scope scope, struct error *error)
{
	const char *word = typed == NULL ? NULL : find_word(compensation_status_names, typed);
	bool is_all = typed != NULL && strcasecmp(typed, "all") == 0;

	if (typed != NULL && word == NULL && !is_all)
		return error_set(RESULT_PERMANENT, error,
			"--status: \"%.40s\" is not pending, running, done, dead, resolved or all",
			typed);
	if (scope == TASK_FILTER_SCOPE_DEAD && typed != NULL && !text_equals(word, "DEAD"))
		return error_set(RESULT_PERMANENT, error,
			"--status: only tasks that are DEAD are touched by hand");
	if (scope == TASK_FILTER_SCOPE_DEAD)
		word = "DEAD";
	if (is_all)
		return RESULT_OK;
	if (word == NULL) {
		add_condition(
			filter, "(status = 'DEAD' OR (status = 'PENDING' AND retry_count > 0))");
		add_words(filter, "status", "DEAD or PENDING after a failure");
		return RESULT_OK;
	}
	add_condition(filter, "status = ?");
	add_param(filter, db_text(word));
	add_words(filter, "status", word);
	return RESULT_OK;
}

static enum result add_kind(struct task_filter *filter, const char *typed, struct error *error)
{
	const char *word = typed == NULL ? NULL : find_word(compensation_kind_names, typed);

	if (typed == NULL)
		return RESULT_OK;
	if (word == NULL)
		return error_set(RESULT_PERMANENT, error,
			"--kind: \"%.40s\" is not stock_restore, refund or webhook", typed);
	add_condition(filter, "kind = ?");
	add_param(filter, db_text(word));
	add_words(filter, "kind", word);
	return RESULT_OK;
}

static enum result add_order(struct task_filter *filter, const char *order_no, struct error *error)
{
	if (order_no == NULL)
		return RESULT_OK;
	if (!text_is_key(order_no, strlen(order_no), TEXT_KEY_MAX))
		return error_set(RESULT_PERMANENT, error,
			"--order: \"%.70s\" can be no order number", order_no);
	add_condition(filter, "order_no = ?");
	add_param(filter, db_text(order_no));
	add_words(filter, "order", order_no);
	return RESULT_OK;
}

static void add_error(struct task_filter *filter, const char *part)
{
	if (part == NULL)
		return;
	add_condition(filter, "LOCATE(LOWER(?), LOWER(last_error)) > 0");
	add_param(filter, db_text(part));
	add_words(filter, "error contains", part);
}

static void add_age(struct task_filter *filter, const struct option_set *options)
{
	uint64_t age_ms = option_number(options, OPTION_OLDER_THAN, 0);
	char age[32];

	if (!option_is_given(options, OPTION_OLDER_THAN))
		return;
	text_format_duration(age, sizeof(age), age_ms);
	add_condition(filter, "created_at < UTC_TIMESTAMP(3) - INTERVAL ? MICROSECOND");
	add_param(filter, db_uint(age_ms * 1000));
	add_words(filter, "older than", age);
}

enum result task_filter_read(const struct option_set *options, enum task_filter_scope scope,
	struct task_filter *filter, struct error *error)
{
	const char *status = option_text(options, OPTION_STATUS);
	const char *order_no = option_text(options, OPTION_ORDER);
	bool is_open = status == NULL ||
		       (strcasecmp(status, "all") != 0 && strcasecmp(status, "done") != 0);

	*filter = (struct task_filter){ .param_count = 0 };
	REQUIRE(text_format(filter->condition, sizeof(filter->condition), "%s WHERE id > ?",
		is_open && order_no == NULL ? status_index : ""));
	add_param(filter, db_uint(option_number(options, OPTION_AFTER, 0)));
	enum result result = add_status(filter, status, scope, error);
	if (result == RESULT_OK)
		result = add_kind(filter, option_text(options, OPTION_KIND), error);
	if (result == RESULT_OK)
		result = add_order(filter, order_no, error);
	if (result != RESULT_OK)
		return result;
	add_error(filter, option_text(options, OPTION_ERROR));
	add_age(filter, options);
	if (filter->words[0] == '\0')
		(void)text_copy(filter->words, sizeof(filter->words), "all");
	return RESULT_OK;
}

bool task_filter_is_given(const struct option_set *options)
{
	for (enum option option = OPTION_HELP; option < (enum option)OPTION_COUNT; option++)
		if ((TASK_FILTER_OPTIONS & OPTION_BIT(option)) != 0 &&
			option_is_given(options, option))
			return true;
	return false;
}
