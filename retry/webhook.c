#include "retry/webhook.h"

#include <inttypes.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/io/signature.h"

enum {
	TIMESTAMP_SIZE = 24,
	ID_MAX = 64,
};

static const char content_type[] = "Content-Type: application/cloudevents+json";

/* The event id at the end of "webhook:<target>:<event id>"; NULL when the key is another. */
static const char *find_event_id(const struct compensation_task *task)
{
	static const char prefix[] = "webhook:";
	const char *key = task->idempotency_key;
	size_t name_size = strlen(task->target);

	if (!text_starts_with(key, prefix))
		return NULL;
	key += strlen(prefix);
	if (strncmp(key, task->target, name_size) != 0 || key[name_size] != ':')
		return NULL;
	key += name_size + 1;
	return text_is_key(key, strlen(key), ID_MAX) ? key : NULL;
}

enum result webhook_check_task(const struct compensation_task *task, struct error *error)
{
	if (task->kind != COMPENSATION_KIND_WEBHOOK)
		return error_set(RESULT_PERMANENT, error,
			"cannot be called: its kind does not fit its target");
	if (task->payload == NULL)
		return error_set(
			RESULT_PERMANENT, error, "cannot be called: its payload is too long");
	if (find_event_id(task) == NULL)
		return error_set(RESULT_PERMANENT, error,
			"cannot be called: its key is not webhook:<target>:<event id>");
	return RESULT_OK;
}

void webhook_create_request(const struct compensation_task *task,
	const struct subscriber *subscriber, uint64_t epoch_s, struct request *request_out)
{
	const char *event_id = find_event_id(task);
	char signature[SIGNATURE_WEBHOOK_SIZE];
	char timestamp[TIMESTAMP_SIZE];

	REQUIRE(event_id != NULL && task->payload != NULL);
	memset(request_out, 0, sizeof(*request_out));
	(void)text_format(timestamp, sizeof(timestamp), "%" PRIu64, epoch_s);
	/* The secret was looked at when its file was read. */
	bool is_signed = signature_webhook(
		signature, subscriber->secret, event_id, timestamp, task->payload);
	REQUIRE(is_signed);
	(void)text_copy(request_out->url, sizeof(request_out->url), subscriber->url);
	(void)text_format(request_out->lines[0], REQUEST_LINE_SIZE, "webhook-id: %s", event_id);
	(void)text_format(
		request_out->lines[1], REQUEST_LINE_SIZE, "webhook-timestamp: %s", timestamp);
	(void)text_format(
		request_out->lines[2], REQUEST_LINE_SIZE, "webhook-signature: %s", signature);
	request_out->headers[0] = content_type;
	for (size_t i = 0; i < REQUEST_LINE_MAX; i++)
		request_out->headers[i + 1] = request_out->lines[i];
	request_out->body = memory_copy_text(task->payload);
	request_out->body_size = strlen(task->payload);
}
