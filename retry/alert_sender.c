#include "retry/alert_sender.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/io/http.h"
#include "common/io/signature.h"
#include "retry/alert_body.h"
#include "retry/receiver.h"
#include "retry/retry.h"
#include "retry/retry_metrics.h"

enum {
	SEND_GAP_MS = 1000,    /* between two messages to one target */
	TIME_LIMIT_MS = 10000, /* of one message */
	HEADER_MAX = 5,
	HEADER_SIZE = 160,
	TOKEN_HEADER_SIZE = 4096,
};

static const char *const result_names[] = { "ok", "http_error", "body_error", "timeout",
	"rate_limited" };

/* The one message on its way to a target. */
struct sending {
	struct receiver receiver; /* first */
	struct alert_sender *sender;
	size_t target;
	struct alert_group *group; /* NULL: none */
	uint64_t next_ms;          /* no message before */
	bool is_off;               /* answered 410: nothing until the settings are read again */
	uint64_t failures;
};

struct alert_sender {
	const struct retry_settings *settings;
	struct http *http;
	struct alert_target_list targets; /* a copy: the settings may change under a message */
	struct sending sendings[ALERT_TARGET_MAX];
};

void alert_sender_create(
	const struct retry_settings *settings, struct http *http, struct alert_sender **sender_out)
{
	struct alert_sender *sender = memory_allocate(sizeof(*sender));

	sender->settings = settings;
	sender->http = http;
	alert_sender_take_settings(sender);
	*sender_out = sender;
}

void alert_sender_destroy(struct alert_sender **sender)
{
	if (*sender == NULL)
		return;
	alert_target_clear(&(*sender)->targets);
	free(*sender);
	*sender = NULL;
}

const struct alert_target_list *alert_sender_targets(const struct alert_sender *sender)
{
	return &sender->targets;
}

void alert_sender_take_settings(struct alert_sender *sender)
{
	REQUIRE(!alert_sender_is_busy(sender));
	alert_target_clear(&sender->targets);
	alert_target_copy(&sender->settings->alert_targets, &sender->targets);
	for (size_t i = 0; i < ALERT_TARGET_MAX; i++)
		sender->sendings[i].is_off = false;
}

static enum retry_alert_result judge(const struct http_answer *answer)
{
	if (answer->failure == HTTP_FAILURE_TIME)
		return RETRY_ALERT_TIMEOUT;
	if (answer->failure == HTTP_FAILURE_NONE && answer->status >= 200 && answer->status <= 299)
		return RETRY_ALERT_OK;
	return answer->status == 429 ? RETRY_ALERT_RATE_LIMITED : RETRY_ALERT_HTTP_ERROR;
}

static void note_failure(struct sending *sending, const struct http_answer *answer)
{
	struct alert_group *group = sending->group;
	const char *name = sending->sender->targets.items[sending->target].name;

	if (answer->failure == HTTP_FAILURE_NONE)
		(void)text_format(
			group->reason, sizeof(group->reason), "%s: HTTP %ld", name, answer->status);
	else
		(void)text_format(
			group->reason, sizeof(group->reason), "%s: %s", name, answer->error);
	if (answer->retry_after_ms > group->retry_after_ms)
		group->retry_after_ms = answer->retry_after_ms;
	sending->is_off = answer->status == 410;
	if (log_is_worth_repeating(&sending->failures))
		log_warn(log_event("alert_failed"), log_text("target", name),
			log_uint("alerts", group->count), log_text("error", group->reason),
			log_uint("repeated", sending->failures));
	if (sending->is_off)
		log_error(log_event("alert_target_off"), log_text("target", name),
			log_text("error", "it answered 410; send HUP to use it again"));
}

static void take_answer(struct receiver *receiver, const struct http_answer *answer)
{
	struct sending *sending = (struct sending *)(void *)receiver;
	struct alert_group_target *target = &sending->group->targets[sending->target];
	const char *name = sending->sender->targets.items[sending->target].name;
	enum retry_alert_result result = judge(answer);

	retry_metrics_count_alert(name, result);
	target->state = result == RETRY_ALERT_OK ? ALERT_GROUP_DELIVERED : ALERT_GROUP_FAILED;
	target->result = result_names[result];
	target->status = answer->status;
	if (result == RETRY_ALERT_OK) {
		sending->failures = 0;
		log_info(log_event("alert_delivered"), log_text("target", name),
			log_uint("alerts", sending->group->count),
			log_uint("took_ms", answer->duration_ms));
	} else {
		note_failure(sending, answer);
	}
	sending->group = NULL;
}

/* The headers of one message; their texts live in here. */
struct head {
	const char *list[HEADER_MAX + 1];
	char id[HEADER_SIZE];
	char timestamp[HEADER_SIZE];
	char signature[HEADER_SIZE];
	char token[TOKEN_HEADER_SIZE];
};

/* Of a secret that was checked when it was read. */
static void sign(
	struct head *head, size_t *count, const char *secret, const char *id, const char *body)
{
	char signature[SIGNATURE_WEBHOOK_SIZE];
	char timestamp[24];

	(void)text_format(timestamp, sizeof(timestamp), "%llu",
		(unsigned long long)(clock_epoch_ms() / 1000));
	(void)text_format(head->id, sizeof(head->id), "webhook-id: %s", id);
	(void)text_format(
		head->timestamp, sizeof(head->timestamp), "webhook-timestamp: %s", timestamp);
	head->list[(*count)++] = head->id;
	head->list[(*count)++] = head->timestamp;
	if (secret == NULL || !signature_webhook(signature, secret, id, timestamp, body))
		return;
	(void)text_format(
		head->signature, sizeof(head->signature), "webhook-signature: %s", signature);
	head->list[(*count)++] = head->signature;
}

static void fill_head(struct head *head, const struct alert_target *target,
	const struct alert_group *group, const char *body)
{
	char id[ALERT_BODY_ID_SIZE];
	size_t count = 0;

	memset(head, 0, sizeof(*head));
	alert_body_format_id(group->rows, group->count, target->name, id);
	head->list[count++] = "Content-Type: application/json";
	sign(head, &count, target->secret, id, body);
	if (target->token == NULL)
		return;
	(void)text_format(
		head->token, sizeof(head->token), "Authorization: Bearer %s", target->token);
	head->list[count] = head->token;
}

static void start(struct alert_sender *sender, struct alert_group *group, size_t place)
{
	struct sending *sending = &sender->sendings[place];
	const struct alert_target *target = &sender->targets.items[place];
	const struct alert_origin origin = { .env = sender->settings->env_label,
		.console_url = sender->settings->console_url,
		.runbook_url = sender->settings->runbook_url };
	char *body = alert_body_write(group->rows, group->count, target->name, &origin);
	struct head head;

	fill_head(&head, target, group, body);
	sending->receiver.take = take_answer;
	sending->sender = sender;
	sending->target = place;
	sending->group = group;
	sending->next_ms = clock_now_ms() + SEND_GAP_MS;
	group->targets[place].state = ALERT_GROUP_SENDING;
	http_start(sender->http, &(struct http_request){ .url = target->url,
					 .headers = head.list,
					 .body = body,
					 .body_size = strlen(body),
					 .time_limit_ms = TIME_LIMIT_MS,
					 .context = &sending->receiver });
	memory_wipe(&head, sizeof(head));
	free(body);
}

static void send_next(struct alert_sender *sender, struct alert_group *group, size_t place)
{
	const struct sending *sending = &sender->sendings[place];
	struct alert_group_target *target = &group->targets[place];

	if (target->state != ALERT_GROUP_WAITING)
		return;
	if (sending->is_off) {
		target->state = ALERT_GROUP_FAILED;
		target->result = "off";
		(void)text_format(group->reason, sizeof(group->reason), "%s: is off",
			sender->targets.items[place].name);
	} else if (sending->group == NULL && clock_now_ms() >= sending->next_ms) {
		start(sender, group, place);
	}
}

void alert_sender_send(struct alert_sender *sender, struct alert_group *groups, size_t count)
{
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < sender->targets.count; k++)
			send_next(sender, &groups[i], k);
}

bool alert_sender_is_busy(const struct alert_sender *sender)
{
	for (size_t i = 0; i < ALERT_TARGET_MAX; i++)
		if (sender->sendings[i].group != NULL)
			return true;
	return false;
}

uint64_t alert_sender_wait_ms(const struct alert_sender *sender, uint64_t limit_ms)
{
	uint64_t now_ms = clock_now_ms();
	uint64_t wait_ms = limit_ms;

	for (size_t i = 0; i < sender->targets.count; i++) {
		uint64_t next_ms = sender->sendings[i].next_ms;

		if (next_ms > now_ms && next_ms - now_ms < wait_ms)
			wait_ms = next_ms - now_ms;
	}
	return wait_ms;
}
