#include "tests/support/robot.h"

#include <string.h>

#include <check.h>

#include "common/base/text.h"
#include "tests/support/sandbox.h"

enum {
	NAME_SIZE = 64,
	LIST_SIZE = 256
};

static const struct {
	const char *type;
	const char *path;   /* that the stub accepts */
	const char *format; /* of the address behind the host; %s is the credential */
	const char *answer; /* when it is well; NULL: what the stub says by itself */
} kinds[] = {
	{ "generic", "/hook", "/hook?token=%s", NULL },
	{ "alertmanager", "/api/v2/alerts", "", "" },
	{ "dingtalk", "/robot/send", "/robot/send?access_token=%s", NULL },
	{ "feishu", "/open-apis/bot/v2/hook", "/open-apis/bot/v2/hook?id=%s", NULL },
	{ "wecom", "/cgi-bin/webhook/send", "/cgi-bin/webhook/send?key=%s", NULL },
	{ "slack", "/services", "/services?id=%s", "ok" },
};

static char list[LIST_SIZE];

static size_t find_kind(const char *type)
{
	size_t i = 0;

	while (!text_equals(kinds[i].type, type))
		i++;
	return i;
}

static void set(struct sandbox *sandbox, const char *type, const char *ending, const char *value)
{
	char name[NAME_SIZE];

	(void)text_format(name, sizeof(name), "LAPSE_ALERT_%s_%s", type, ending);
	for (char *c = name; *c != '\0'; c++)
		if (*c >= 'a' && *c <= 'z')
			*c = (char)(*c - 'a' + 'A');
	sandbox_set(sandbox, name, "%s", value);
}

static void format_address(const struct robot *robot, size_t kind, char *address, size_t size)
{
	const char *format = kinds[kind].format;
	size_t before = strcspn(format, "%");
	char url[HTTP_STUB_URL_SIZE];

	http_stub_format_url(robot->stub, url);
	(void)text_format(address, size, "%s%.*s%s", url, (int)before, format,
		format[before] == '\0' ? "" : robot->credential);
}

void robot_create(struct sandbox *sandbox, const char *type, const char *key, struct robot *robot)
{
	size_t kind = find_kind(type);
	char address[HTTP_STUB_TEXT_SIZE];
	size_t used;

	robot->type = kinds[kind].type;
	(void)text_format(
		robot->credential, sizeof(robot->credential), "s3cretOf%s4711", robot->type);
	http_stub_create(&robot->stub);
	http_stub_accept_path(robot->stub, kinds[kind].path);
	robot_be_well(robot);
	format_address(robot, kind, address, sizeof(address));
	set(sandbox, type, "TYPE", type);
	set(sandbox, type, "URL", address);
	if (key != NULL)
		set(sandbox, type, "SECRET", key);
	used = strlen(list);
	(void)text_format(list + used, sizeof(list) - used, "%s%s", used == 0 ? "" : ",", type);
	sandbox_set(sandbox, "LAPSE_ALERT_TARGETS", "%s", list);
}

void robot_destroy(struct robot *robot)
{
	if (robot->stub != NULL)
		http_stub_destroy(&robot->stub);
	list[0] = '\0';
}

static void set_rule(struct robot *robot, struct http_stub_rule rule)
{
	rule.sku_id = "";
	http_stub_set_rule(robot->stub, &rule);
}

void robot_answer_text(struct robot *robot, const char *body, uint32_t times)
{
	set_rule(robot,
		(struct http_stub_rule){ .mode = HTTP_STUB_TEXT, .text = body, .times = times });
}

void robot_answer_status(
	struct robot *robot, unsigned int status, uint32_t retry_after_s, uint32_t times)
{
	set_rule(robot, (struct http_stub_rule){ .mode = HTTP_STUB_STATUS,
				.status = status,
				.retry_after_s = retry_after_s,
				.times = times });
}

void robot_hang(struct robot *robot, uint32_t times)
{
	set_rule(robot, (struct http_stub_rule){ .mode = HTTP_STUB_HANG, .times = times });
}

void robot_redirect(struct robot *robot, const char *url, uint32_t times)
{
	set_rule(robot,
		(struct http_stub_rule){ .mode = HTTP_STUB_REDIRECT, .text = url, .times = times });
}

void robot_be_well(struct robot *robot)
{
	const char *answer = kinds[find_kind(robot->type)].answer;

	http_stub_drop_rules(robot->stub);
	if (answer != NULL)
		robot_answer_text(robot, answer, 0);
}

uint64_t robot_count(const struct robot *robot)
{
	return http_stub_count_bodies(robot->stub);
}

const char *robot_body(const struct robot *robot, uint64_t index)
{
	static char body[HTTP_STUB_BODY_SIZE];

	ck_assert(http_stub_get_body(robot->stub, index, body));
	return body;
}

const char *robot_head(const struct robot *robot, uint64_t index)
{
	static char head[HTTP_STUB_HEAD_SIZE];

	ck_assert(http_stub_get_head(robot->stub, index, head));
	return head;
}

size_t robot_count_with(const struct robot *robot, const char *text)
{
	uint64_t count = robot_count(robot);
	size_t found = 0;

	for (uint64_t i = 0; i < count; i++)
		found += strstr(robot_body(robot, i), text) != NULL ? 1 : 0;
	return found;
}
