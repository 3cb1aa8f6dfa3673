#include "common/report/alert_message.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/io/http.h"
#include "common/io/signature.h"
#include "common/report/alert_body.h"
#include "common/report/alert_robot.h"

enum {
	HEADER_MAX = 5,
	HEADER_SIZE = 4096,
	URL_SIZE = HTTP_URL_MAX + 256,
	TIMESTAMP_SIZE = 24,
};

struct alert_message {
	char url[URL_SIZE];
	char *body;
	char lines[HEADER_MAX][HEADER_SIZE];
	const char *headers[HEADER_MAX + 1];
	size_t header_count;
};

static char *write_generic(
	const struct alert_target *target, const struct alert_news *news, uint64_t epoch_ms)
{
	(void)epoch_ms; /* what is signed is the whole body */
	return alert_body_write(news, target->name);
}

static char *write_groups(
	const struct alert_target *target, const struct alert_news *news, uint64_t epoch_ms)
{
	(void)target; /* nothing of it is in the body */
	(void)epoch_ms;
	return alert_body_write_groups(news);
}

/* burst + per_minute here is what a service takes in any minute. */
static const struct kind {
	char *(*write)(const struct alert_target *target, const struct alert_news *news,
		uint64_t epoch_ms);
	struct alert_pace pace;
} kinds[] = {
	[ALERT_TYPE_GENERIC] = { write_generic, { .burst = 1, .per_minute = 59, .rows_max = 100 } },
	[ALERT_TYPE_ALERTMANAGER] = { write_groups, { .burst = 5,
							    .per_minute = 60,
							    .rows_max = SIZE_MAX,
							    .takes_whole_groups = true } },
	[ALERT_TYPE_DINGTALK] = { alert_robot_write_dingtalk,
		{ .burst = 4, .per_minute = 15, .rows_max = SIZE_MAX } },
	[ALERT_TYPE_FEISHU] = { alert_robot_write_feishu,
		{ .burst = 4, .per_minute = 60, .rows_max = SIZE_MAX, .avoids_half_hours = true } },
	[ALERT_TYPE_WECOM] = { alert_robot_write_wecom,
		{ .burst = 4, .per_minute = 15, .rows_max = SIZE_MAX } },
	[ALERT_TYPE_SLACK] = { alert_robot_write_slack,
		{ .burst = 1, .per_minute = 59, .rows_max = SIZE_MAX } },
};

static_assert(ARRAY_LENGTH(kinds) == ALERT_TYPE_SLACK + 1, "one for each type");

const struct alert_pace *alert_message_pace(enum alert_type type)
{
	return &kinds[type].pace;
}

static void add_header(struct alert_message *message, const char *name, const char *value)
{
	char *line = message->lines[message->header_count];

	REQUIRE(message->header_count < HEADER_MAX);
	(void)text_format(line, HEADER_SIZE, "%s: %s", name, value);
	message->headers[message->header_count++] = line;
}

/* Standard Webhooks; the id is the same when the message is sent again. */
static void sign_generic(struct alert_message *message, const struct alert_target *target,
	const struct alert_news *news, uint64_t epoch_ms)
{
	char signature[SIGNATURE_WEBHOOK_SIZE];
	char timestamp[TIMESTAMP_SIZE];
	char id[ALERT_BODY_ID_SIZE];

	alert_body_format_id(news, target->name, id);
	(void)text_format(timestamp, sizeof(timestamp), "%" PRIu64, epoch_ms / 1000);
	add_header(message, "webhook-id", id);
	add_header(message, "webhook-timestamp", timestamp);
	/* The secret was looked at when it was read. */
	if (target->secret != NULL &&
		signature_webhook(signature, target->secret, id, timestamp, message->body))
		add_header(message, "webhook-signature", signature);
}

static void sign_dingtalk(
	struct alert_message *message, const struct alert_target *target, uint64_t epoch_ms)
{
	char sign[ALERT_ROBOT_SIGN_SIZE];
	size_t used = strlen(message->url);

	alert_robot_sign_dingtalk(target->secret, epoch_ms, sign);
	(void)text_format(message->url + used, URL_SIZE - used, "%stimestamp=%" PRIu64 "&sign=%s",
		strchr(message->url, '?') == NULL ? "?" : "&", epoch_ms, sign);
}

static void append_path(struct alert_message *message, const char *path)
{
	size_t used = strlen(message->url);

	while (used > 0 && message->url[used - 1] == '/')
		used--;
	(void)text_format(message->url + used, URL_SIZE - used, "%s", path);
}

void alert_message_create(const struct alert_target *target, const struct alert_news *news,
	uint64_t epoch_ms, struct alert_message **message_out)
{
	struct alert_message *message = memory_allocate(sizeof(*message));

	(void)text_copy(message->url, sizeof(message->url), target->url);
	message->body = kinds[target->type].write(target, news, epoch_ms);
	add_header(message, "Content-Type", "application/json");
	if (target->type == ALERT_TYPE_GENERIC)
		sign_generic(message, target, news, epoch_ms);
	if (target->type == ALERT_TYPE_DINGTALK && target->secret != NULL)
		sign_dingtalk(message, target, epoch_ms);
	if (target->type == ALERT_TYPE_ALERTMANAGER)
		append_path(message, "/api/v2/alerts");
	if (target->token != NULL) {
		char value[HEADER_SIZE];

		(void)text_format(value, sizeof(value), "Bearer %s", target->token);
		add_header(message, "Authorization", value);
		memory_wipe(value, sizeof(value));
	}
	*message_out = message;
}

void alert_message_destroy(struct alert_message **message)
{
	if (*message == NULL)
		return;
	free((*message)->body);
	memory_wipe(*message, sizeof(**message));
	free(*message);
	*message = NULL;
}

const char *alert_message_url(const struct alert_message *message)
{
	return message->url;
}

const char *alert_message_body(const struct alert_message *message)
{
	return message->body;
}

const char *const *alert_message_headers(const struct alert_message *message)
{
	return message->headers;
}
