#include "ctl/option.h"

#include <inttypes.h>
#include <string.h>

#include "common/base/settings.h"
#include "common/base/text.h"

enum {
	NAME_SIZE = 64,
	NEAR_DISTANCE_MAX = 3,
};

enum option_kind {
	OPTION_KIND_FLAG,
	OPTION_KIND_WORD, /* a flag that may carry "=" and its one word */
	OPTION_KIND_TEXT,
	OPTION_KIND_NUMBER,
	OPTION_KIND_DURATION,
};

struct option_row {
	enum option_kind kind;
	char letter; /* '\0': none */
	const char *name;
	const char *value;         /* word for the value in --help */
	uint64_t minimum, maximum; /* of a NUMBER or DURATION */
	const char *help;
};

/* In the order of enum option. */
static const struct option_row option_rows[] = {
	[OPTION_HELP] = { OPTION_KIND_FLAG, 'h', "help", NULL, 0, 0, "print this and leave" },
	[OPTION_VERSION] = { OPTION_KIND_FLAG, 'V', "version", NULL, 0, 0,
		"print the version and leave" },
	[OPTION_CHECK_CONFIG] = { OPTION_KIND_FLAG, '\0', "check-config", NULL, 0, 0,
		"print the settings with their sources and leave" },
	[OPTION_HEALTHCHECK] = { OPTION_KIND_WORD, '\0', "healthcheck", "live", 0, 0,
		"ask /readyz (=live: /livez) of the program beside, leave with 0 or 1" },
	[OPTION_ENV_FILE] = { OPTION_KIND_TEXT, '\0', "env-file", "FILE", 0, 0,
		"read settings that are not in the environment from FILE" },
	[OPTION_JSON] = { OPTION_KIND_FLAG, '\0', "json", NULL, 0, 0, "print one JSON document" },
	[OPTION_PLAIN] = { OPTION_KIND_FLAG, '\0', "plain", NULL, 0, 0,
		"print lines of values with tabs between them" },
	[OPTION_QUIET] = { OPTION_KIND_FLAG, 'q', "quiet", NULL, 0, 0,
		"say nothing on standard error but errors" },
	[OPTION_VERBOSE] = { OPTION_KIND_FLAG, 'v', "verbose", NULL, 0, 0, "say more" },
	[OPTION_NO_COLOR] = { OPTION_KIND_FLAG, '\0', "no-color", NULL, 0, 0,
		"no colours, as with NO_COLOR in the environment" },
	[OPTION_DRY_RUN] = { OPTION_KIND_FLAG, 'n', "dry-run", NULL, 0, 0,
		"show what would be done, change nothing" },
	[OPTION_YES] = { OPTION_KIND_FLAG, '\0', "yes", NULL, 0, 0, "do not ask before a change" },
	[OPTION_NO_INPUT] = { OPTION_KIND_FLAG, '\0', "no-input", NULL, 0, 0,
		"never ask; without --yes a change is refused" },
	[OPTION_ACTOR] = { OPTION_KIND_TEXT, '\0', "actor", "NAME", 0, 0,
		"who acts, for the audit (default: user@host)" },
	[OPTION_SHOW_STATUS] = { OPTION_KIND_FLAG, '\0', "status", NULL, 0, 0,
		"list the migrations and whether each is applied" },
	[OPTION_CHECK] = { OPTION_KIND_FLAG, '\0', "check", NULL, 0, 0,
		"leave with 1 when anything is red" },
	[OPTION_SINCE] = { OPTION_KIND_DURATION, '\0', "since", "DURATION", SECONDS(1), DAYS(36500),
		"how far to look back (default: 24h)" },
	[OPTION_OVERDUE_GRACE] = { OPTION_KIND_DURATION, '\0', "overdue-grace", "DURATION", 0,
		DAYS(36500), "how long an order may be overdue (default: two sweep intervals)" },
	[OPTION_STATUS] = { OPTION_KIND_TEXT, '\0', "status", "STATUS", 0, 0,
		"only this status: pending, running, done, dead, resolved or all" },
	[OPTION_KIND] = { OPTION_KIND_TEXT, '\0', "kind", "KIND", 0, 0,
		"only this kind: stock_restore, refund or webhook; of alerts such as task_dead" },
	[OPTION_ORDER] = { OPTION_KIND_TEXT, '\0', "order", "ORDER_NO", 0, 0,
		"only those of this order" },
	[OPTION_ERROR] = { OPTION_KIND_TEXT, '\0', "error", "TEXT", 0, 0,
		"only those whose last error contains TEXT, in any case" },
	[OPTION_OLDER_THAN] = { OPTION_KIND_DURATION, '\0', "older-than", "DURATION", 0,
		DAYS(36500), "only those made longer ago than this" },
	[OPTION_LIMIT] = { OPTION_KIND_NUMBER, '\0', "limit", "COUNT", 1, 5000,
		"at most so many rows" },
	[OPTION_AFTER] = { OPTION_KIND_NUMBER, '\0', "after", "ID", 0, UINT64_MAX,
		"only those with a higher id: the next page" },
	[OPTION_CONFIRM_COUNT] = { OPTION_KIND_NUMBER, '\0', "confirm-count", "COUNT", 0, 5000,
		"act on a filter when it matches exactly so many" },
	[OPTION_REASON] = { OPTION_KIND_TEXT, '\0', "reason", "CODE[:TEXT]", 0, 0,
		"why: fixed_elsewhere, not_needed, duplicate, refunded_by_hand, "
		"stock_corrected_by_hand or other:TEXT" },
	[OPTION_WHY] = { OPTION_KIND_TEXT, '\0', "reason", "TEXT", 0, 0,
		"why, in 5 to 500 characters, for the audit" },
	[OPTION_CONFIRM] = { OPTION_KIND_TEXT, '\0', "confirm", "ORDER_NO", 0, 0,
		"the order number once more, instead of a question" },
	[OPTION_TENANT] = { OPTION_KIND_TEXT, '\0', "tenant", "TEXT", 0, 0, "this tenant only" },
	[OPTION_CHANNEL] = { OPTION_KIND_TEXT, '\0', "channel", "TEXT", 0, 0, "this channel only" },
	[OPTION_ACTIVITY] = { OPTION_KIND_TEXT, '\0', "activity", "TEXT", 0, 0,
		"this activity only" },
	[OPTION_CATEGORY] = { OPTION_KIND_TEXT, '\0', "category", "TEXT", 0, 0,
		"this category only" },
	[OPTION_TIMEOUT] = { OPTION_KIND_TEXT, '\0', "timeout", "DURATION", 0, 0,
		"time to pay in whole seconds such as 15m, or never" },
	[OPTION_PRIORITY] = { OPTION_KIND_TEXT, '\0', "priority", "NUMBER", 0, 0,
		"which of two equally specific rules wins: the higher (default: 0)" },
	[OPTION_FROM] = { OPTION_KIND_TEXT, '\0', "from", "TIME", 0, 0,
		"when it begins, such as 2026-01-31T18:30:00Z (default: now)" },
	[OPTION_UNTIL] = { OPTION_KIND_TEXT, '\0', "until", "TIME", 0, 0,
		"when it ends, such as 2026-01-31T18:30:00Z" },
	[OPTION_BY] = { OPTION_KIND_DURATION, '\0', "by", "DURATION", 1, DAYS(3650),
		"how much later than now planned" },
	[OPTION_ALL] = { OPTION_KIND_FLAG, '\0', "all", NULL, 0, 0, "also those that are over" },
	[OPTION_PLACE] = { OPTION_KIND_TEXT, '\0', "after", "PLACE", 0, 0,
		"only what comes behind this place: the next page" },
	[OPTION_STATE] = { OPTION_KIND_TEXT, '\0', "state", "WORD", 0, 0,
		"only those in this state, or all" },
	[OPTION_TARGET] = { OPTION_KIND_TEXT, '\0', "target", "NAME", 0, 0,
		"only those of this target, in the audit task or task:ID" },
	[OPTION_OVERDUE_BY] = { OPTION_KIND_DURATION, '\0', "overdue-by", "DURATION", 0,
		DAYS(36500), "only orders that should have been closed longer ago than this" },
	[OPTION_CLOSED_FROM] = { OPTION_KIND_TEXT, '\0', "closed-from", "TIME", 0, 0,
		"only orders closed at this time or later" },
	[OPTION_CLOSED_TO] = { OPTION_KIND_TEXT, '\0', "closed-to", "TIME", 0, 0,
		"only orders closed before this time" },
	[OPTION_CLOSE_REASON] = { OPTION_KIND_TEXT, '\0', "reason", "WORD", 0, 0,
		"only orders closed by timeout, user_cancel or operator" },
	[OPTION_SOURCE] = { OPTION_KIND_TEXT, '\0', "source", "WORD", 0, 0,
		"only orders closed from message, sweep, api or console" },
	[OPTION_TYPE] = { OPTION_KIND_TEXT, '\0', "type", "WORD", 0, 0,
		"only events of this type, such as ORDER_CLOSED" },
	[OPTION_OUTCOME] = { OPTION_KIND_TEXT, '\0', "outcome", "WORD", 0, 0,
		"applied, late, duplicate, mismatch or unknown_order" },
	[OPTION_REFUND_STATE] = { OPTION_KIND_TEXT, '\0', "refund-state", "WORD", 0, 0,
		"none, pending, done or failed" },
	[OPTION_WHO] = { OPTION_KIND_TEXT, '\0', "who", "ACTOR", 0, 0, "only acts of this person" },
	[OPTION_ACT] = { OPTION_KIND_TEXT, '\0', "act", "WORD", 0, 0,
		"only this kind of act, such as requeue" },
	[OPTION_RESULT] = { OPTION_KIND_TEXT, '\0', "result", "WORD", 0, 0,
		"ok, refused, conflict or error" },
	[OPTION_AT_FROM] = { OPTION_KIND_TEXT, '\0', "from", "TIME", 0, 0,
		"only acts at this time or later, such as 2026-01-31T18:30:00Z" },
	[OPTION_AT_TO] = { OPTION_KIND_TEXT, '\0', "to", "TIME", 0, 0,
		"only acts before this time" },
	[OPTION_FOR] = { OPTION_KIND_DURATION, '\0', "for", "DURATION", 0, DAYS(1),
		"how long, at most 24h; 0 ends a silence" },
	[OPTION_ONCE] = { OPTION_KIND_FLAG, '\0', "once", NULL, 0, 0, "print one view and leave" },
	[OPTION_INTERVAL] = { OPTION_KIND_DURATION, '\0', "interval", "DURATION", 500, MINUTES(10),
		"time between two views (default: 2s)" },
	[OPTION_USER] = { OPTION_KIND_TEXT, '\0', "user", "NAME", 0, 0,
		"the user the line is for (default: the user who asks)" },
	[OPTION_ROLE] = { OPTION_KIND_TEXT, '\0', "role", "ROLE", 0, 0,
		"viewer, operator or admin (default: viewer)" },
	[OPTION_ALERT_TARGET] = { OPTION_KIND_TEXT, '\0', "target", "NAME", 0, 0,
		"a name of LAPSE_ALERT_TARGETS" },
};
_Static_assert(ARRAY_LENGTH(option_rows) == OPTION_COUNT, "each option has its row");
_Static_assert(OPTION_COUNT <= 64, "a set of options is 64 bits");

const uint64_t option_common =
	OPTION_BIT(OPTION_HELP) | OPTION_BIT(OPTION_VERSION) | OPTION_BIT(OPTION_CHECK_CONFIG) |
	OPTION_BIT(OPTION_HEALTHCHECK) | OPTION_BIT(OPTION_ENV_FILE) | OPTION_BIT(OPTION_JSON) |
	OPTION_BIT(OPTION_PLAIN) | OPTION_BIT(OPTION_QUIET) | OPTION_BIT(OPTION_VERBOSE) |
	OPTION_BIT(OPTION_NO_COLOR) | OPTION_BIT(OPTION_DRY_RUN) | OPTION_BIT(OPTION_YES) |
	OPTION_BIT(OPTION_NO_INPUT) | OPTION_BIT(OPTION_ACTOR);

static bool is_in(uint64_t set, size_t option)
{
	return (set & OPTION_BIT(option)) != 0;
}

/* The name of a long option without what follows '='; false when it is too long for any. */
static bool copy_name(char name[NAME_SIZE], const char *argument)
{
	size_t length = strcspn(argument, "=");

	if (length >= NAME_SIZE)
		return false;
	memcpy(name, argument, length);
	name[length] = '\0';
	return true;
}

static enum result refuse_unknown(uint64_t allowed, const char *argument, struct error *error)
{
	char name[NAME_SIZE] = "";
	const char *nearest = NULL;
	size_t least = NEAR_DISTANCE_MAX + 1;

	for (size_t i = 0; copy_name(name, argument + 1) && i < OPTION_COUNT; i++) {
		size_t distance = text_distance(name + 1, option_rows[i].name);

		if (is_in(allowed, i) && name[0] == '-' && distance < least) {
			least = distance;
			nearest = option_rows[i].name;
		}
	}
	if (nearest == NULL)
		return error_set(RESULT_PERMANENT, error, "unknown option %.60s", argument);
	return error_set(RESULT_PERMANENT, error, "unknown option %.60s, did you mean --%s?",
		argument, nearest);
}

/* OPTION_COUNT when there is none.  "-n" and "--dry-run" are the same. */
static size_t find_option(uint64_t allowed, const char *argument)
{
	char name[NAME_SIZE];

	for (size_t i = 0; i < OPTION_COUNT; i++) {
		const struct option_row *row = &option_rows[i];

		if (!is_in(allowed, i))
			continue;
		if (argument[1] == '-' && copy_name(name, argument + 2) &&
			text_equals(name, row->name))
			return i;
		if (row->letter != '\0' && argument[1] == row->letter && argument[2] == '\0')
			return i;
	}
	return OPTION_COUNT;
}

static enum result read_value(
	const struct option_row *row, struct option_value *value, struct error *error)
{
	switch (row->kind) {
	case OPTION_KIND_FLAG:
	case OPTION_KIND_TEXT:
		return RESULT_OK;
	case OPTION_KIND_WORD:
		if (text_equals(value->text, row->value))
			return RESULT_OK;
		return error_set(
			RESULT_PERMANENT, error, "--%s takes no \"%.40s\"", row->name, value->text);
	case OPTION_KIND_NUMBER:
		if (text_parse_uint(value->text, row->minimum, row->maximum, &value->number))
			return RESULT_OK;
		return error_set(RESULT_PERMANENT, error,
			"--%s: \"%.40s\" is not a whole number from %" PRIu64 " to %" PRIu64,
			row->name, value->text, row->minimum, row->maximum);
	case OPTION_KIND_DURATION:
		if (text_parse_duration(value->text, &value->number) &&
			value->number >= row->minimum && value->number <= row->maximum)
			return RESULT_OK;
		return error_set(RESULT_PERMANENT, error,
			"--%s: \"%.40s\" is not a duration such as 90s, 5m, 2h or 7d", row->name,
			value->text);
	}
	return RESULT_PERMANENT;
}

enum result option_take(struct option_set *options, uint64_t allowed, char *const *arguments,
	int count, int *place, struct error *error)
{
	const char *argument = arguments[*place];
	const char *equals = argument[1] == '-' ? strchr(argument, '=') : NULL;
	size_t option = find_option(allowed, argument);

	if (option == OPTION_COUNT)
		return refuse_unknown(allowed, argument, error);
	const struct option_row *row = &option_rows[option];
	struct option_value *value = &options->values[option];

	*place += 1;
	value->is_set = true;
	if (row->kind == OPTION_KIND_WORD && equals == NULL)
		return RESULT_OK;
	if (row->kind == OPTION_KIND_FLAG) {
		if (equals != NULL)
			return error_set(RESULT_PERMANENT, error, "--%s takes no value", row->name);
		return RESULT_OK;
	}
	if (equals != NULL)
		value->text = equals + 1;
	else if (*place < count)
		value->text = arguments[(*place)++];
	else
		return error_set(RESULT_PERMANENT, error, "--%s needs a value", row->name);
	return read_value(row, value, error);
}

bool option_is_given(const struct option_set *options, enum option option)
{
	return options->values[option].is_set;
}

const char *option_text(const struct option_set *options, enum option option)
{
	return options->values[option].text;
}

uint64_t option_number(const struct option_set *options, enum option option, uint64_t fallback)
{
	return options->values[option].is_set ? options->values[option].number : fallback;
}

const char *option_name(enum option option)
{
	return option_rows[option].name;
}

const char *option_help(enum option option)
{
	return option_rows[option].help;
}

void option_print_help(uint64_t set, FILE *file)
{
	char names[NAME_SIZE];

	for (size_t i = 0; i < OPTION_COUNT; i++) {
		const struct option_row *row = &option_rows[i];

		if (!is_in(set, i))
			continue;
		bool is_word = row->kind == OPTION_KIND_WORD;
		(void)text_format(names, sizeof(names), "-%c, --%s%s%s%s", row->letter, row->name,
			row->value == NULL ? "" : (is_word ? "[=" : " "),
			row->value == NULL ? "" : row->value, is_word ? "]" : "");
		if (row->letter == '\0')
			memset(names, ' ', strlen("-x, "));
		(void)fprintf(file, "  %-28s %s\n", names, row->help);
	}
}
