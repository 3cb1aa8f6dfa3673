#include "demo/receiver/hooks.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/io/json.h"
#include "common/io/signature.h"
#include "common/order/event_message.h"
#include "demo/shared/reply.h"

enum {
	TOLERANCE_S = 300,
	ID_MAX = 64,
	EVENT_LIST_MAX = 1000,
};

static const char hooks_path[] = "/hooks/";

void hooks_clear(struct hooks *hooks)
{
	for (size_t i = 0; i < hooks->count; i++)
		book_destroy(&hooks->items[i].book);
	subscriber_list_clear(&hooks->subscribers);
	memset(hooks, 0, sizeof(*hooks));
}

static const char *find_name(const struct httpd_request *request)
{
	return request->path + strlen(hooks_path);
}

static bool is_fresh(const char *timestamp)
{
	uint64_t then_s = 0;
	uint64_t now_s = clock_epoch_ms() / 1000;

	if (!text_parse_uint(timestamp, 0, UINT32_MAX, &then_s))
		return false;
	return then_s <= now_s + TOLERANCE_S && now_s <= then_s + TOLERANCE_S;
}

/* Is one of the signatures that came one that we make with one of our secrets? */
static bool has_signature(const char *came, const char *ours)
{
	while (*came != '\0') {
		size_t size = strcspn(came, " ");

		for (const char *own = ours; *own != '\0';) {
			size_t own_size = strcspn(own, " ");

			if (own_size == size && signature_equals(own, came, size))
				return true;
			own += own_size;
			own += strspn(own, " ");
		}
		came += size;
		came += strspn(came, " ");
	}
	return false;
}

static bool is_signed(const struct httpd_request *request, const struct subscriber *subscriber)
{
	const char *id = httpd_header(request, "webhook-id");
	const char *timestamp = httpd_header(request, "webhook-timestamp");
	const char *came = httpd_header(request, "webhook-signature");
	char ours[SIGNATURE_WEBHOOK_SIZE];

	return id != NULL && timestamp != NULL && came != NULL &&
	       text_is_key(id, strlen(id), ID_MAX) && is_fresh(timestamp) &&
	       signature_webhook(ours, subscriber->secret, id, timestamp, request->body) &&
	       has_signature(came, ours);
}

const struct subscriber *hooks_check(
	struct hooks *hooks, const struct httpd_request *request, struct httpd_answer *answer)
{
	const struct subscriber *subscriber =
		subscriber_find(&hooks->subscribers, find_name(request));

	if (subscriber == NULL)
		reply(answer, 404, 404, "no such hook");
	else if (!is_signed(request, subscriber))
		reply(answer, 401, 401, "the signature is missing, wrong or too old");
	else
		return subscriber;
	hooks->refused++;
	return NULL;
}

static struct hook *find_hook(struct hooks *hooks, const char *name)
{
	for (size_t i = 0; i < hooks->count; i++)
		if (text_equals(hooks->items[i].name, name))
			return &hooks->items[i];
	if (hooks->count == SUBSCRIBER_MAX)
		return NULL;
	struct hook *hook = &hooks->items[hooks->count++];
	(void)text_copy(hook->name, sizeof(hook->name), name);
	book_create(&hook->book);
	return hook;
}

static void enter(struct hook *hook, const struct httpd_request *request,
	const struct event_message *event, struct httpd_answer *answer)
{
	enum book_outcome outcome = book_enter(hook->book, httpd_header(request, "webhook-id"),
		event->order_no, request->body, event->type);

	hook->calls++;
	hook->changed += outcome == BOOK_OUTCOME_CHANGED ? 1 : 0;
	switch (outcome) {
	case BOOK_OUTCOME_NEW:
		reply(answer, 200, 0, "done");
		return;
	case BOOK_OUTCOME_REPEATED:
		reply(answer, 200, 0, "done before");
		return;
	case BOOK_OUTCOME_CHANGED:
		reply(answer, 409, 409, "the id came with another body");
		return;
	case BOOK_OUTCOME_FULL:
		reply(answer, 503, 503, "the book is full");
		return;
	}
}

void hooks_carry_out(struct hooks *hooks, const struct subscriber *subscriber,
	const struct httpd_request *request, struct httpd_answer *answer)
{
	struct hook *hook = find_hook(hooks, subscriber->name);
	struct event_message event;
	struct error error = { .text = "" };

	if (hook == NULL)
		reply(answer, 503, 503, "too many hooks");
	else if (event_message_parse((const uint8_t *)request->body, request->body_size, &event,
			 &error) == RESULT_OK)
		enter(hook, request, &event, answer);
	else
		reply(answer, 400, 400, error.text);
}

static void add_events(struct json *list, const struct hook *hook, const char *order_no)
{
	for (size_t i = 0; i < book_count(hook->book) && json_count(list) < EVENT_LIST_MAX; i++) {
		const struct book_record *record = book_at(hook->book, i);

		if (!text_equals(record->order_no, order_no))
			continue;
		struct json *item = json_create_object();
		json_set_text(item, "id", record->key);
		json_set_text(item, "type", record->note);
		json_set_int(item, "calls", (int64_t)record->calls);
		json_append_adopt(list, &item);
	}
}

struct json *hooks_describe(const struct hooks *hooks, const char *order_no)
{
	struct json *root = json_create_object();
	struct json *list = json_create_array();

	json_set_int(root, "code", 0);
	json_set_int(root, "refused", (int64_t)hooks->refused);
	for (size_t i = 0; i < hooks->count; i++) {
		const struct hook *hook = &hooks->items[i];
		struct json *item = json_create_object();

		json_set_text(item, "name", hook->name);
		json_set_int(item, "calls", (int64_t)hook->calls);
		json_set_int(item, "effects", (int64_t)book_count(hook->book));
		json_set_int(item, "changed", (int64_t)hook->changed);
		if (order_no != NULL) {
			struct json *events = json_create_array();

			add_events(events, hook, order_no);
			json_adopt(item, "events", &events);
		}
		json_append_adopt(list, &item);
	}
	json_adopt(root, "hooks", &list);
	return root;
}
