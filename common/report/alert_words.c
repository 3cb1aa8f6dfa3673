#include "common/report/alert_words.h"

#include <inttypes.h>

#include "common/base/compiler.h"
#include "common/base/text.h"

enum {
	LANGUAGES = ALERT_LANGUAGE_ZH_CN + 1
};

static const struct {
	uint64_t from_s;
	uint64_t unit_s;
	const char *words[LANGUAGES];
} units[] = {
	{ UINT64_C(172800), 86400, { "d", "天" } },
	{ UINT64_C(3600), 3600, { "h", "小时" } },
	{ UINT64_C(60), 60, { "min", "分钟" } },
	{ 0, 1, { "s", "秒" } },
};

static const struct {
	const char *name;
	const char *words[LANGUAGES];
} task_kinds[] = {
	{ "stock_restore", { "stock_restore", "归还库存" } },
	{ "refund", { "refund", "退款" } },
	{ "webhook", { "webhook", "事件回调" } },
};

static const char *const console_words[LANGUAGES] = { "console", "控制台" };
static const char *const test_words[LANGUAGES] = {
	"This is a test message. Nothing is wrong and nobody has to act.",
	"这是一条测试消息，系统一切正常，无需处理。"
};

/* "3 min": how long, in its largest unit. */
static void format_age(enum alert_language language, uint64_t age_s, char words[ALERT_WORDS_SIZE])
{
	size_t i = 0;

	while (age_s < units[i].from_s)
		i++;
	(void)text_format(words, ALERT_WORDS_SIZE, "%" PRIu64 " %s", age_s / units[i].unit_s,
		units[i].words[language]);
}

void alert_words_format_state(enum alert_language language, bool is_resolved, uint64_t age_s,
	char words[ALERT_WORDS_SIZE])
{
	static const char *const before[][LANGUAGES] = { { "for ", "已持续 " },
		{ "over, after ", "已恢复，历时 " } };
	char age[ALERT_WORDS_SIZE];

	format_age(language, age_s, age);
	(void)text_format(
		words, ALERT_WORDS_SIZE, "%s%.64s", before[is_resolved ? 1 : 0][language], age);
}

const char *alert_words_task_kind(enum alert_language language, const char *task_kind)
{
	for (size_t i = 0; i < ARRAY_LENGTH(task_kinds); i++)
		if (text_equals(task_kinds[i].name, task_kind))
			return task_kinds[i].words[language];
	return task_kind;
}

void alert_words_format_calls(
	enum alert_language language, uint32_t calls, char words[ALERT_WORDS_SIZE])
{
	if (language == ALERT_LANGUAGE_ZH_CN)
		(void)text_format(words, ALERT_WORDS_SIZE, "已调用 %" PRIu32 " 次", calls);
	else
		(void)text_format(words, ALERT_WORDS_SIZE, "%" PRIu32 " call%s", calls,
			calls == 1 ? "" : "s");
}

void alert_words_format_more(
	enum alert_language language, size_t count, char words[ALERT_WORDS_SIZE])
{
	(void)text_format(words, ALERT_WORDS_SIZE,
		language == ALERT_LANGUAGE_ZH_CN ? "另有 %zu 条" : "and %zu more", count);
}

void alert_words_format_summary(
	enum alert_kind kind, size_t firing, size_t resolved, char words[ALERT_WORDS_SIZE])
{
	size_t told = firing > 0 ? firing : resolved;

	(void)text_format(words, ALERT_WORDS_SIZE, "%zu %s%s %s", told, alert_origin_thing(kind),
		told == 1 ? "" : "s",
		firing == 0 ? "resolved"
		: told == 1 ? "needs a person"
			    : "need a person");
}

const char *alert_words_console(enum alert_language language)
{
	return console_words[language];
}

const char *alert_words_test(enum alert_language language)
{
	return test_words[language];
}
