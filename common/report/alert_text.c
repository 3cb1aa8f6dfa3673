#include "common/report/alert_text.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/report/alert_words.h"

enum {
	ERROR_CHARACTERS = 80,
	NAME_CHARACTERS = 160,
	VALUE_SIZE = ALERT_TEXT_SIZE * 5 + 1, /* "&amp;" for each byte */
	LINE_SIZE = 2 * VALUE_SIZE,
	TAIL_SIZE = 2048,
};

struct replacement {
	char from;
	const char *to;
};

/* Signs that mean something become others that look alike. */
static const struct replacement markdown_signs[] = { { '<', "＜" }, { '>', "＞" }, { '[', "［" },
	{ ']', "］" }, { '*', "＊" }, { '`', "｀" }, { '#', "＃" }, { '@', "＠" }, { '~', "～" },
	{ '\\', "＼" }, { '!', "！" }, { '|', "｜" }, { '\0', NULL } };
static const struct replacement slack_signs[] = { { '&', "&amp;" }, { '<', "&lt;" },
	{ '>', "&gt;" }, { '*', "＊" }, { '`', "｀" }, { '~', "～" }, { '\0', NULL } };
static const struct replacement plain_signs[] = { { '@', "＠" }, { '\0', NULL } };

static const struct replacement *const signs[] = {
	[ALERT_MARKUP_PLAIN] = plain_signs,
	[ALERT_MARKUP_MARKDOWN] = markdown_signs,
	[ALERT_MARKUP_SLACK] = slack_signs,
};

/* Bytes of the first count characters. */
static size_t measure_characters(const char *text, size_t count)
{
	size_t size = 0;

	while (text[size] != '\0') {
		bool is_start = ((unsigned char)text[size] & 0xC0) != 0x80;

		if (is_start && count-- == 0)
			break;
		size++;
	}
	return size;
}

static const char *find_replacement(enum alert_markup markup, char c)
{
	for (const struct replacement *sign = signs[markup]; sign->to != NULL; sign++)
		if (sign->from == c)
			return sign->to;
	return NULL;
}

/* A value of a row, of at most that many characters, as text that means nothing else. */
static void clean(
	char target[VALUE_SIZE], enum alert_markup markup, const char *value, size_t characters)
{
	char clipped[ALERT_TEXT_SIZE];
	size_t used = 0;

	(void)text_clip(clipped, sizeof(clipped), value, strlen(value));
	size_t size = measure_characters(clipped, characters);
	for (size_t i = 0; i < size; i++) {
		const char *replacement = find_replacement(markup, clipped[i]);
		size_t length = replacement == NULL ? 1 : strlen(replacement);

		memcpy(target + used, replacement == NULL ? &clipped[i] : replacement, length);
		used += length;
	}
	target[used] = '\0';
}

void alert_text_format_title(
	const struct alert_news *news, enum alert_markup markup, char title[ALERT_TITLE_SIZE])
{
	size_t firing = alert_news_count_firing(news);
	size_t resolved = news->count - firing;
	char rule[VALUE_SIZE];
	char env[VALUE_SIZE];
	char state[ALERT_WORDS_SIZE];

	clean(rule, markup, alert_origin_rule(news->rows[0]->kind, news->rows[0]->ref), 64);
	clean(env, markup, news->origin->env, 32);
	if (news->is_test)
		(void)text_copy(state, sizeof(state), "TEST");
	else if (resolved == 0)
		(void)text_format(state, sizeof(state), "FIRING:%zu", firing);
	else if (firing == 0)
		(void)text_format(state, sizeof(state), "RESOLVED:%zu", resolved);
	else
		(void)text_format(
			state, sizeof(state), "FIRING:%zu, RESOLVED:%zu", firing, resolved);
	(void)text_format(title, ALERT_TITLE_SIZE, "[%.48s] %.100s (%.80s)", state, rule, env);
}

/* One of several parts of a line. */
static void append_part(char line[LINE_SIZE], const char *part)
{
	size_t used = strlen(line);

	if (part[0] != '\0')
		(void)text_format(
			line + used, LINE_SIZE - used, "%s%s", used == 0 ? "- " : " · ", part);
}

static const char *find_name(const struct alert_row *row)
{
	if (row->kind == ALERT_KIND_THRESHOLD)
		return row->summary;
	return row->order_no[0] != '\0' ? row->order_no : row->ref;
}

/* Without the order number, which stands in front of it already. */
static const char *find_reason(const struct alert_row *row)
{
	size_t size = strlen(row->order_no);
	const char *rest = row->description;

	if (size == 0 || !text_starts_with(rest, "order "))
		return rest;
	rest += strlen("order ");
	if (strncmp(rest, row->order_no, size) != 0 || !text_starts_with(rest + size, ": "))
		return row->description;
	return rest + size + strlen(": ");
}

static void format_line(char line[LINE_SIZE], const struct alert_news *news,
	const struct alert_row *row, enum alert_markup markup)
{
	enum alert_language language = news->origin->language;
	char value[VALUE_SIZE];
	char words[ALERT_WORDS_SIZE];

	line[0] = '\0';
	clean(value, markup, find_name(row), NAME_CHARACTERS);
	append_part(line, value);
	clean(value, markup, alert_words_task_kind(language, row->task_kind), ERROR_CHARACTERS);
	append_part(line, value);
	if (row->calls > 0) {
		alert_words_format_calls(language, row->calls, words);
		append_part(line, words);
	}
	clean(value, markup, find_reason(row), ERROR_CHARACTERS);
	append_part(line, value);
	if (!news->is_test) {
		alert_words_format_state(language, row->is_resolved, row->age_s, words);
		append_part(line, words);
	}
}

static void format_link(
	char link[TAIL_SIZE], enum alert_markup markup, const char *words, const char *url)
{
	if (url[0] == '\0')
		(void)text_copy(link, TAIL_SIZE, words);
	else if (markup == ALERT_MARKUP_MARKDOWN)
		(void)text_format(link, TAIL_SIZE, "[%s](%s)", words, url);
	else if (markup == ALERT_MARKUP_SLACK)
		(void)text_format(link, TAIL_SIZE, "<%s|%s>", url, words);
	else
		(void)text_format(link, TAIL_SIZE, "%s: %s", words, url);
}

/* What follows the list: how many are not in it, the link, what the style asks for. */
static void format_tail(char tail[TAIL_SIZE], const struct alert_news *news,
	const struct alert_text_style *style, size_t left)
{
	enum alert_language language = news->origin->language;
	char words[ALERT_WORDS_SIZE] = "";
	char url[ALERT_URL_SIZE];
	char link[TAIL_SIZE] = "";

	alert_origin_format_list(news->origin, news->rows[0]->kind, url);
	if (left > 0)
		alert_words_format_more(language, left, words);
	else if (url[0] != '\0')
		(void)text_copy(words, sizeof(words), alert_words_console(language));
	if (words[0] != '\0')
		format_link(link, style->markup, words, url);
	(void)text_format(tail, TAIL_SIZE, "%s%s%s%.1000s", link[0] == '\0' ? "" : "\n", link,
		style->tail[0] == '\0' ? "" : "\n", style->tail);
}

struct writer {
	char *text;
	size_t used;
	size_t size_max;
};

static size_t room(const struct writer *writer, size_t kept)
{
	return writer->used + kept >= writer->size_max ? 0 : writer->size_max - writer->used - kept;
}

/* Cut at a character when it does not fit whole beside kept bytes. */
static void append(struct writer *writer, const char *text, size_t kept)
{
	size_t size = strlen(text);

	if (size > room(writer, kept)) {
		size = room(writer, kept);
		while (size > 0 && ((unsigned char)text[size] & 0xC0) == 0x80)
			size--;
	}
	memcpy(writer->text + writer->used, text, size);
	writer->used += size;
	writer->text[writer->used] = '\0';
}

/* Those that fire first. */
static const struct alert_row *find_row(const struct alert_news *news, size_t place)
{
	for (size_t pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < news->count; i++)
			if (news->rows[i]->is_resolved == (pass == 1) && place-- == 0)
				return news->rows[i];
	return news->rows[0];
}

/* Lines that fit whole beside the tail; the first is there in any case, cut if need be. */
static size_t append_lines(struct writer *writer, const struct alert_news *news,
	const struct alert_text_style *style, char tail[TAIL_SIZE])
{
	size_t listed = 0;
	char *line = memory_allocate(LINE_SIZE);

	format_tail(tail, news, style, news->count);
	size_t kept = strlen(tail);
	while (listed < news->count && listed < ALERT_TEXT_LIST_MAX) {
		format_line(line, news, find_row(news, listed), style->markup);
		if (listed > 0 && strlen(line) + 1 > room(writer, kept))
			break;
		if (writer->used > 0)
			append(writer, "\n", kept);
		append(writer, line, kept);
		listed++;
	}
	free(line);
	return listed;
}

char *alert_text_write(const struct alert_news *news, const struct alert_text_style *style)
{
	struct writer writer = { .text = memory_allocate(style->size_max + 1),
		.size_max = style->size_max };
	char title[ALERT_TITLE_SIZE];
	char tail[TAIL_SIZE];

	if (style->title_mark != NULL) {
		alert_text_format_title(news, style->markup, title);
		append(&writer, style->title_mark, 0);
		append(&writer, title, 0);
	}
	size_t listed = append_lines(&writer, news, style, tail);
	format_tail(tail, news, style, news->count - listed);
	append(&writer, tail, 0);
	return writer.text;
}
