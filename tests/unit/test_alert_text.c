/* alert_text: what a person reads; at most ten lines, cut at a character. */
#include <stdlib.h>
#include <string.h>

#include "common/base/text.h"
#include "common/report/alert_text.h"
#include "tests/support/runner.h"

static struct alert_row rows[48];
static const struct alert_row *list[ARRAY_LENGTH(rows)];
static struct alert_origin origin;
static struct alert_news news;

static void set_up(size_t count)
{
	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		rows[i] = (struct alert_row){ .id = i + 1,
			.severity = ALERT_SEVERITY_WARNING,
			.ref = "918273",
			.task_kind = "stock_restore",
			.description = "order A1: HTTP 503",
			.age_s = 180,
			.calls = 6 };
		(void)text_format(rows[i].order_no, sizeof(rows[i].order_no), "A%zu", i + 1);
		list[i] = &rows[i];
	}
	origin =
		(struct alert_origin){ .env = "prod", .console_url = "https://ops.example/lapse/" };
	news = (struct alert_news){ .rows = list, .count = count, .origin = &origin };
}

static void expect(enum alert_markup markup, size_t size_max, const char *expected)
{
	const struct alert_text_style style = {
		.markup = markup, .size_max = size_max, .title_mark = "", .tail = ""
	};
	char *text = alert_text_write(&news, &style);

	ck_assert_str_eq(text, expected);
	free(text);
}

START_TEST(a_message_says_which_order_what_how_often_why_and_since_when)
{
	set_up(2);
	expect(ALERT_MARKUP_MARKDOWN, 4096,
		"[FIRING:2] LapseTaskDead (prod)\n"
		"- A1 · stock_restore · 6 calls · HTTP 503 · for 3 min\n"
		"- A2 · stock_restore · 6 calls · order A1: HTTP 503 · for 3 min\n"
		"[console](https://ops.example/lapse/tasks?state=DEAD)");
}
END_TEST

START_TEST(it_speaks_the_language_of_the_console)
{
	set_up(1);
	origin.language = ALERT_LANGUAGE_ZH_CN;
	expect(ALERT_MARKUP_PLAIN, 4096,
		"[FIRING:1] LapseTaskDead (prod)\n"
		"- A1 · 归还库存 · 已调用 6 次 · HTTP 503 · 已持续 3 分钟\n"
		"控制台: https://ops.example/lapse/tasks?state=DEAD");
}
END_TEST

START_TEST(those_that_fire_come_first)
{
	set_up(2);
	rows[0].is_resolved = true;
	origin.console_url = NULL;
	expect(ALERT_MARKUP_SLACK, 4096,
		"[FIRING:1, RESOLVED:1] LapseTaskDead (prod)\n"
		"- A2 · stock_restore · 6 calls · order A1: HTTP 503 · for 3 min\n"
		"- A1 · stock_restore · 6 calls · HTTP 503 · over, after 3 min");
	rows[1].is_resolved = true;
	char title[ALERT_TITLE_SIZE];
	alert_text_format_title(&news, ALERT_MARKUP_PLAIN, title);
	ck_assert_str_eq(title, "[RESOLVED:2] LapseTaskDead (prod)");
}
END_TEST

static size_t count_lines(const char *text)
{
	size_t count = 0;

	for (; (text = strstr(text, "\n- ")) != NULL; text++)
		count++;
	return count;
}

START_TEST(ten_are_listed_and_the_others_counted_with_a_link)
{
	const struct alert_text_style style = { .markup = ALERT_MARKUP_MARKDOWN,
		.size_max = 4096,
		.title_mark = "### ",
		.tail = "@me" };

	set_up(47);
	char *text = alert_text_write(&news, &style);
	ck_assert_ptr_eq(text, strstr(text, "### [FIRING:47] LapseTaskDead"));
	ck_assert_uint_eq(count_lines(text), 10);
	ck_assert_ptr_nonnull(
		strstr(text, "\n[and 37 more](https://ops.example/lapse/tasks?state=DEAD)\n@me"));
	free(text);
}
END_TEST

START_TEST(what_does_not_fit_whole_is_counted)
{
	const struct alert_text_style style = {
		.markup = ALERT_MARKUP_PLAIN, .size_max = 250, .title_mark = "", .tail = ""
	};

	set_up(47);
	char *text = alert_text_write(&news, &style);
	ck_assert_uint_le(strlen(text), 250);
	ck_assert_uint_eq(count_lines(text), 2);
	ck_assert_ptr_nonnull(strstr(text, "and 45 more: https://ops.example"));
	free(text);
}
END_TEST

static bool is_utf8(const char *text)
{
	size_t size = strlen(text);
	char *clean = malloc(size + 1);

	/* Clipping changes nothing but newlines in what is well formed. */
	(void)text_clip(clean, size + 1, text, size);
	for (size_t i = 0; i < size; i++)
		if (clean[i] == '?' && text[i] == '\n')
			clean[i] = '\n';
	bool is_same = text_equals(clean, text);
	free(clean);
	return is_same;
}

START_TEST(a_cut_is_at_a_character_at_every_size)
{
	set_up(1);
	(void)text_copy(rows[0].description, sizeof(rows[0].description),
		"支付服务返回了错误😀支付服务返回了错误é支付服务返回了错误");
	for (size_t size = 0; size < 260; size++) {
		const struct alert_text_style style = { .markup = ALERT_MARKUP_MARKDOWN,
			.size_max = size,
			.title_mark = "",
			.tail = "" };
		char *text = alert_text_write(&news, &style);

		ck_assert_uint_le(strlen(text), size);
		ck_assert_msg(is_utf8(text), "%zu: %s", size, text);
		free(text);
	}
}
END_TEST

START_TEST(an_error_is_cut_to_eighty_characters)
{
	set_up(1);
	origin.console_url = NULL;
	rows[0].description[0] = '\0';
	for (size_t i = 0; i < 100; i++)
		(void)memcpy(rows[0].description + 3 * i, "错", 4);
	const struct alert_text_style style = {
		.markup = ALERT_MARKUP_PLAIN, .size_max = 4096, .tail = ""
	};
	char *text = alert_text_write(&news, &style);
	size_t count = 0;
	for (const char *c = text; (c = strstr(c, "错")) != NULL; c++)
		count++;
	ck_assert_uint_eq(count, 80);
	free(text);
}
END_TEST

START_TEST(a_threshold_says_its_sentence)
{
	set_up(1);
	rows[0] = (struct alert_row){ .kind = ALERT_KIND_THRESHOLD,
		.ref = "LapseOverdue",
		.summary = "12 orders are overdue",
		.age_s = 7300 };
	expect(ALERT_MARKUP_MARKDOWN, 4096,
		"[FIRING:1] LapseOverdue (prod)\n"
		"- 12 orders are overdue · for 2 h\n"
		"[console](https://ops.example/lapse/alerts)");
}
END_TEST

START_TEST(a_test_is_marked)
{
	struct alert_row row;

	set_up(1);
	alert_news_make_test(ALERT_LANGUAGE_EN, 0, &row);
	list[0] = &row;
	news.is_test = true;
	origin.console_url = NULL;
	expect(ALERT_MARKUP_PLAIN, 4096,
		"[TEST] LapseTest (prod)\n"
		"- TEST: This is a test message. Nothing is wrong and nobody has to act.");
	ck_assert_str_eq(row.fired_at, "1970-01-01T00:00:00.000Z");
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		a_message_says_which_order_what_how_often_why_and_since_when,
		it_speaks_the_language_of_the_console,
		those_that_fire_come_first,
		ten_are_listed_and_the_others_counted_with_a_link,
		what_does_not_fit_whole_is_counted,
		a_cut_is_at_a_character_at_every_size,
		an_error_is_cut_to_eighty_characters,
		a_threshold_says_its_sentence,
		a_test_is_marked,
	};

	return runner_run("alert_text", tests, ARRAY_LENGTH(tests));
}
