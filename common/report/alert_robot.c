#include "common/report/alert_robot.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/base/url.h"
#include "common/io/json.h"
#include "common/report/alert_text.h"

/* Bytes of a text.  A body of JSON is at most twice as long and a frame longer. */
enum {
	DINGTALK_TEXT_MAX = 9000, /* body: 20,000 */
	FEISHU_TEXT_MAX = 9000,   /* body: 20 KB */
	WECOM_MARKDOWN_MAX = 4096,
	WECOM_TEXT_MAX = 2048,
	SLACK_SECTION_MAX = 2900, /* 3,000 characters */
	TAIL_SIZE = 1024,
	NAME_SIZE = ALERT_MENTION_MAX + 1,
	TIMESTAMP_SIZE = 24,
};

/* How one service writes that somebody is called. */
struct call {
	const char *before;
	const char *after;
	const char *all;
};

static const struct call dingtalk_call = { "@", "", "" };
static const struct call feishu_call = { "<at id=", "></at>", "<at id=all></at>" };
static const struct call slack_call = { "<@", ">", "<!channel>" };

static bool is_all(const struct alert_target *target)
{
	return target->mention != NULL && text_equals(target->mention, "all");
}

/* The name at the start of list; moves list behind it.  false: there is none left. */
static bool take_name(const char **list, char name[NAME_SIZE])
{
	while (**list == ',')
		(*list)++;
	size_t size = strcspn(*list, ",");
	(void)text_format(name, NAME_SIZE, "%.*s", (int)size, *list);
	*list += size;
	return size > 0;
}

static void append(char tail[TAIL_SIZE], const char *text)
{
	size_t used = strlen(tail);

	(void)text_format(tail + used, TAIL_SIZE - used, "%s", text);
}

static void append_call(char tail[TAIL_SIZE], const struct call *call, const char *name)
{
	append(tail, tail[0] == '\0' ? "" : " ");
	append(tail, call->before);
	append(tail, name);
	append(tail, call->after);
}

/* Who is called, and the keyword the robot looks for. */
static void format_tail(
	const struct alert_target *target, const struct call *call, char tail[TAIL_SIZE])
{
	const char *list = target->mention == NULL ? "" : target->mention;
	char name[NAME_SIZE];

	tail[0] = '\0';
	if (is_all(target))
		append(tail, call->all);
	else
		while (take_name(&list, name))
			append_call(tail, call, name);
	if (target->keyword != NULL) {
		append(tail, tail[0] == '\0' ? "" : " ");
		append(tail, target->keyword);
	}
}

static bool is_number(const char *name)
{
	return strspn(name, "+0123456789") == strlen(name);
}

/* Telephone numbers, or all other names. */
static struct json *create_name_list(const struct alert_target *target, bool numbers)
{
	struct json *names = json_create_array();
	const char *list = target->mention == NULL || is_all(target) ? "" : target->mention;
	char name[NAME_SIZE];

	while (take_name(&list, name))
		if (is_number(name) == numbers)
			json_append_text(names, name);
	return names;
}

static char *write_and_destroy(struct json *root)
{
	char *text = json_write(root);

	json_destroy(&root);
	return text;
}

char *alert_robot_write_dingtalk(
	const struct alert_target *target, const struct alert_news *news, uint64_t epoch_ms)
{
	struct json *root = json_create_object();
	struct json *markdown = json_create_object();
	struct json *at = json_create_object();
	struct json *numbers = create_name_list(target, true);
	struct json *names = create_name_list(target, false);
	char tail[TAIL_SIZE];
	char title[ALERT_TITLE_SIZE];
	const struct alert_text_style style = { .markup = ALERT_MARKUP_MARKDOWN,
		.size_max = DINGTALK_TEXT_MAX,
		.title_mark = "#### ",
		.tail = tail };

	(void)epoch_ms; /* the signature is part of the address */
	format_tail(target, &dingtalk_call, tail);
	alert_text_format_title(news, ALERT_MARKUP_MARKDOWN, title);
	char *text = alert_text_write(news, &style);
	json_set_text(markdown, "title", title);
	json_set_text(markdown, "text", text);
	json_adopt(at, "atMobiles", &numbers);
	json_adopt(at, "atUserIds", &names);
	json_set_bool(at, "isAtAll", is_all(target));
	json_set_text(root, "msgtype", "markdown");
	json_adopt(root, "markdown", &markdown);
	json_adopt(root, "at", &at);
	free(text);
	return write_and_destroy(root);
}

static struct json *create_text(const char *tag, const char *content)
{
	struct json *text = json_create_object();

	json_set_text(text, "tag", tag);
	json_set_text(text, "content", content);
	return text;
}

/* red while something fires, else green; blue for a test. */
static const char *find_color(const struct alert_news *news)
{
	if (news->is_test)
		return "blue";
	return alert_news_count_firing(news) > 0 ? "red" : "green";
}

static struct json *create_feishu_card(const struct alert_news *news, const char *text)
{
	struct json *card = json_create_object();
	struct json *header = json_create_object();
	struct json *elements = json_create_array();
	struct json *markdown = create_text("markdown", text);
	char title[ALERT_TITLE_SIZE];

	alert_text_format_title(news, ALERT_MARKUP_PLAIN, title);
	struct json *title_text = create_text("plain_text", title);
	json_adopt(header, "title", &title_text);
	json_set_text(header, "template", find_color(news));
	json_append_adopt(elements, &markdown);
	json_adopt(card, "header", &header);
	json_adopt(card, "elements", &elements);
	return card;
}

char *alert_robot_write_feishu(
	const struct alert_target *target, const struct alert_news *news, uint64_t epoch_ms)
{
	struct json *root = json_create_object();
	char tail[TAIL_SIZE];
	char timestamp[TIMESTAMP_SIZE];
	char sign[SIGNATURE_BASE64_SIZE];
	const struct alert_text_style style = {
		.markup = ALERT_MARKUP_MARKDOWN, .size_max = FEISHU_TEXT_MAX, .tail = tail
	};

	format_tail(target, &feishu_call, tail);
	char *text = alert_text_write(news, &style);
	struct json *card = create_feishu_card(news, text);
	if (target->secret != NULL) {
		(void)text_format(timestamp, sizeof(timestamp), "%" PRIu64, epoch_ms / 1000);
		alert_robot_sign_feishu(target->secret, epoch_ms / 1000, sign);
		json_set_text(root, "timestamp", timestamp);
		json_set_text(root, "sign", sign);
	}
	json_set_text(root, "msg_type", "interactive");
	json_adopt(root, "card", &card);
	free(text);
	return write_and_destroy(root);
}

static void set_wecom_calls(struct json *content, const struct alert_target *target)
{
	struct json *numbers = create_name_list(target, true);
	struct json *names = create_name_list(target, false);

	if (is_all(target))
		json_append_text(names, "@all");
	json_adopt(content, "mentioned_list", &names);
	json_adopt(content, "mentioned_mobile_list", &numbers);
}

/* Mentions are known in plain text only. */
char *alert_robot_write_wecom(
	const struct alert_target *target, const struct alert_news *news, uint64_t epoch_ms)
{
	bool is_plain = target->mention != NULL;
	struct json *root = json_create_object();
	struct json *content = json_create_object();
	const struct alert_text_style style = { .markup = is_plain ? ALERT_MARKUP_PLAIN
								   : ALERT_MARKUP_MARKDOWN,
		.size_max = is_plain ? WECOM_TEXT_MAX : WECOM_MARKDOWN_MAX,
		.title_mark = is_plain ? "" : "### ",
		.tail = "" };
	char *text = alert_text_write(news, &style);

	(void)epoch_ms; /* nothing is signed */
	json_set_text(content, "content", text);
	if (is_plain)
		set_wecom_calls(content, target);
	json_set_text(root, "msgtype", is_plain ? "text" : "markdown");
	json_adopt(root, is_plain ? "text" : "markdown", &content);
	free(text);
	return write_and_destroy(root);
}

static struct json *create_slack_block(const char *type, const char *text_type, const char *text)
{
	struct json *block = json_create_object();
	struct json *content = json_create_object();

	json_set_text(content, "type", text_type);
	json_set_text(content, "text", text);
	json_set_text(block, "type", type);
	json_adopt(block, "text", &content);
	return block;
}

char *alert_robot_write_slack(
	const struct alert_target *target, const struct alert_news *news, uint64_t epoch_ms)
{
	struct json *root = json_create_object();
	struct json *blocks = json_create_array();
	char tail[TAIL_SIZE];
	char title[ALERT_TITLE_SIZE];
	char head[150]; /* characters are allowed */
	const struct alert_text_style style = {
		.markup = ALERT_MARKUP_SLACK, .size_max = SLACK_SECTION_MAX, .tail = tail
	};

	(void)epoch_ms; /* nothing is signed */
	format_tail(target, &slack_call, tail);
	alert_text_format_title(news, ALERT_MARKUP_PLAIN, title);
	(void)text_clip(head, sizeof(head), title, strlen(title));
	char *text = alert_text_write(news, &style);
	struct json *header = create_slack_block("header", "plain_text", head);
	struct json *section = create_slack_block("section", "mrkdwn", text);
	json_append_adopt(blocks, &header);
	json_append_adopt(blocks, &section);
	alert_text_format_title(news, ALERT_MARKUP_SLACK, title);
	json_set_text(root, "text", title);
	json_adopt(root, "blocks", &blocks);
	free(text);
	return write_and_destroy(root);
}

/* "<number>\n<secret>", owned by the caller. */
static char *write_signed_text(uint64_t number, const char *secret)
{
	size_t size = strlen(secret) + TIMESTAMP_SIZE;
	char *text = memory_allocate(size);

	(void)text_format(text, size, "%" PRIu64 "\n%s", number, secret);
	return text;
}

static void wipe_and_free(char *text)
{
	memory_wipe(text, strlen(text));
	free(text);
}

void alert_robot_sign_dingtalk(
	const char *secret, uint64_t epoch_ms, char sign[ALERT_ROBOT_SIGN_SIZE])
{
	char *text = write_signed_text(epoch_ms, secret);
	char base64[SIGNATURE_BASE64_SIZE];

	signature_base64(base64, secret, strlen(secret), text, strlen(text));
	/* Base64 has three signs that mean something in a query. */
	sign[0] = '\0';
	(void)url_append_encoded(sign, ALERT_ROBOT_SIGN_SIZE, base64);
	wipe_and_free(text);
}

void alert_robot_sign_feishu(const char *secret, uint64_t epoch_s, char sign[SIGNATURE_BASE64_SIZE])
{
	char *text = write_signed_text(epoch_s, secret);

	signature_base64(sign, text, strlen(text), "", 0);
	wipe_and_free(text);
}
