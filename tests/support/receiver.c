#include "tests/support/receiver.h"

#include <stdlib.h>
#include <string.h>

#include <check.h>

#include "common/base/clock.h"
#include "common/base/text.h"
#include "common/io/http.h"
#include "common/io/json.h"
#include "tests/support/http_client.h"
#include "tests/support/sandbox.h"
#include "tests/support/wait_until.h"

enum {
	TIME_LIMIT_MS = 10000,
	URL_SIZE = 256,
	SWITCH_SIZE = 256,
	ANSWER_MAX = 1048576,
};

/* One call; the JSON object of a good answer, else NULL. */
static struct json *ask(const struct receiver_service *receiver, const char *path, const char *body)
{
	struct http *http = NULL;
	struct http_answer answer;
	struct json *root = NULL;
	char url[URL_SIZE];

	(void)text_format(
		url, sizeof(url), "http://127.0.0.1:%u%s", (unsigned int)receiver->port, path);
	http_create(1, TIME_LIMIT_MS, &http);
	http_start(http, &(struct http_request){ .url = url,
				 .body = body,
				 .body_size = body == NULL ? 0 : strlen(body),
				 .answer_max = ANSWER_MAX,
				 .time_limit_ms = TIME_LIMIT_MS });
	while (http_count_running(http) > 0)
		http_work(http, TIME_LIMIT_MS);
	if (http_take_answer(http, &answer) && answer.status == 200 &&
		json_parse(answer.body, answer.body_size, SIZE_MAX, &root, NULL) != RESULT_OK)
		root = NULL;
	http_destroy(&http);
	return root;
}

static struct json *ask_well(
	const struct receiver_service *receiver, const char *path, const char *body)
{
	struct json *root = ask(receiver, path, body);

	ck_assert_msg(root != NULL, "lapse-receiver does not answer %s", path);
	return root;
}

static bool answers(void *context)
{
	const struct receiver_service *receiver = context;

	return http_client_get(receiver->port, "/v1/effects", TIME_LIMIT_MS, NULL) == 200;
}

void receiver_start(struct sandbox *sandbox, uint16_t port, struct receiver_service *receiver_out)
{
	char address[64];
	const char *const words[] = { "--listen", address, NULL };

	(void)text_format(address, sizeof(address), "127.0.0.1:%u", (unsigned int)port);
	receiver_out->port = port;
	receiver_out->process = sandbox_start(sandbox, "lapse-receiver", words);
	WAIT_UNTIL(answers, receiver_out);
}

void receiver_set(const struct receiver_service *receiver, const char *name, const char *value)
{
	char body[SWITCH_SIZE];

	(void)text_format(body, sizeof(body), "{\"%s\":\"%s\"}", name, value);
	struct json *root = ask_well(receiver, "/v1/misbehave", body);
	json_destroy(&root);
}

static const struct json *find_hook(const struct json *root, const char *name)
{
	const struct json *hooks = json_get(root, "hooks");

	for (size_t i = 0; i < json_count(hooks); i++)
		if (text_equals(json_get_text(json_at(hooks, i), "name"), name))
			return json_at(hooks, i);
	return NULL;
}

int64_t receiver_count(const struct receiver_service *receiver, const char *hook, const char *what)
{
	struct json *root = ask_well(receiver, "/v1/effects", NULL);
	const struct json *found = find_hook(root, hook);
	int64_t count = 0;

	if (found != NULL)
		ck_assert(json_get_int(found, what, &count));
	json_destroy(&root);
	return count;
}

int64_t receiver_count_refused(const struct receiver_service *receiver)
{
	struct json *root = ask_well(receiver, "/v1/effects", NULL);
	int64_t count = 0;

	ck_assert(json_get_int(root, "refused", &count));
	json_destroy(&root);
	return count;
}

void receiver_list(const struct receiver_service *receiver, const char *hook, const char *order_no,
	char text[RECEIVER_TEXT_SIZE])
{
	char path[URL_SIZE];
	size_t used = 0;

	(void)text_format(path, sizeof(path), "/v1/effects?order_no=%s", order_no);
	struct json *root = ask_well(receiver, path, NULL);
	const struct json *found = find_hook(root, hook);
	const struct json *events = found == NULL ? NULL : json_get(found, "events");
	text[0] = '\0';
	for (size_t i = 0; events != NULL && i < json_count(events); i++) {
		(void)text_format(text + used, RECEIVER_TEXT_SIZE - used, "%s ",
			json_get_text(json_at(events, i), "id"));
		used += strlen(text + used);
	}
	json_destroy(&root);
}

int64_t receiver_count_refunds(const struct receiver_service *receiver, int64_t *calls_out)
{
	struct json *root = ask_well(receiver, "/v1/refunds", NULL);
	const struct json *list = json_get(root, "refunds");
	int64_t count = (int64_t)json_count(list);

	*calls_out = 0;
	for (size_t i = 0; i < json_count(list); i++) {
		int64_t calls = 0;

		ck_assert(json_get_int(json_at(list, i), "calls", &calls));
		*calls_out += calls;
	}
	json_destroy(&root);
	return count;
}
