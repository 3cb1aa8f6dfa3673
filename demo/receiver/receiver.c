#include "demo/receiver/receiver.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/io/httpd.h"
#include "common/io/json.h"
#include "demo/receiver/book.h"
#include "demo/receiver/hooks.h"
#include "demo/receiver/refunds.h"
#include "demo/shared/reply.h"
#include "demo/shared/switches.h"

enum {
	STEP_WAIT_MS = 500,
	BODY_MAX = 131072,
	CONNECTION_MAX = 512,
	TIME_LIMIT_MS = 60000,
};

struct receiver {
	const struct receiver_settings *settings;
	struct misbehave misbehave;
	struct hooks hooks;
	struct book *refunds;
	struct httpd *httpd;
};

static const char default_address[] = "127.0.0.1:8091";

static const struct setting receiver_settings_table[] = {
	SETTINGS_SHARED(struct receiver_settings, service, service_settings_table),
	SETTING_TEXT(struct receiver_settings, webhooks_file, "LAPSE_WEBHOOKS_FILE", NULL,
		"subscribers, one a line: name, events, address, secret; read again on HUP"),
	SETTING_END,
};

static void check_settings(const void *context, struct settings_report *report)
{
	const struct receiver_settings *settings = context;

	subscriber_check_file(settings->webhooks_file, report);
	serving_check(&settings->serving, report);
}

static bool take_argument(void *context, const char *word)
{
	struct receiver_settings *settings = context;

	return serving_take_argument(&settings->serving, word);
}

static void dump(void *context)
{
	const struct receiver *receiver = context;

	log_info(log_event("dump_receiver"), log_uint("port", httpd_port(receiver->httpd)),
		log_uint("subscribers", receiver->hooks.subscribers.count),
		log_uint("refunds", book_count(receiver->refunds)));
}

/* A file that is there and wrong has been told by the check of the settings. */
static void reload(void *context)
{
	struct receiver *receiver = context;
	struct error error = { .text = "" };

	if (receiver->settings->webhooks_file != NULL &&
		subscriber_list_reload(receiver->settings->webhooks_file,
			&receiver->hooks.subscribers, &error) == RESULT_NONE)
		log_error(log_event("subscribers_unread"), log_text("error", error.text));
}

const struct service_program receiver_program = {
	.name = "lapse-receiver",
	.summary = "Receivers of webhooks and a refund service for demo and tests: each once.",
	.settings = receiver_settings_table,
	.check = check_settings,
	.checks = SERVICE_CHECK_HTTP,
	.dump = dump,
	.reload = reload,
	.take_argument = take_argument,
	.usage = "  --listen HOST:PORT   where to serve; default 127.0.0.1:8091\n"
		 "Misbehaviour of hooks and refunds, also by POST /v1/misbehave while running:\n"
		 "  --fail-rate RATE     answer 500 to this share (0 to 1) of the calls\n"
		 "  --error-code RATE    refunds: answer 200 with a code that is not 0\n"
		 "  --lose-answers RATE  do the work and close the connection\n"
		 "  --hang RATE          do not answer\n"
		 "  --delay DURATION     answer later, for example 50ms\n"
		 "  --fail-sku NAME=STATUS  fail for this hook or channel with this status\n"
		 "  --retry-after SECONDS  send this header with every failing status\n",
};

/* ---- requests */

static void handle_hook(
	void *context, const struct httpd_request *request, struct httpd_answer *answer)
{
	struct receiver *receiver = context;
	const struct subscriber *subscriber = hooks_check(&receiver->hooks, request, answer);
	struct misbehave misbehave = receiver->misbehave;
	bool works = false;

	/* A hook's answer is its status alone, so a code would be a lie that costs an effect. */
	misbehave.error_code_rate = 0;
	if (subscriber == NULL || switches_fail_for(&misbehave, subscriber->name, answer))
		return;
	(void)switches_misbehave(&misbehave, answer, &works);
	if (works)
		hooks_carry_out(&receiver->hooks, subscriber, request, answer);
}

static void handle_refund(
	void *context, const struct httpd_request *request, struct httpd_answer *answer)
{
	struct receiver *receiver = context;
	struct refund refund;
	struct error error = { .text = "" };
	bool works = false;

	if (refunds_read(request, &refund, &error) != RESULT_OK) {
		reply(answer, 400, 400, error.text);
		return;
	}
	if (switches_fail_for(&receiver->misbehave, refund.channel, answer))
		return;
	(void)switches_misbehave(&receiver->misbehave, answer, &works);
	if (works)
		refunds_give_back(receiver->refunds, &refund, answer);
}

static void handle_effects(
	void *context, const struct httpd_request *request, struct httpd_answer *answer)
{
	const struct receiver *receiver = context;
	struct json *root = hooks_describe(&receiver->hooks, httpd_query(request, "order_no"));

	reply_json(answer, 200, &root);
}

static void handle_refunds(
	void *context, const struct httpd_request *request, struct httpd_answer *answer)
{
	const struct receiver *receiver = context;
	const char *text = httpd_query(request, "after");
	uint64_t after = 0;

	if (text != NULL && !text_parse_uint(text, 0, BOOK_RECORD_MAX, &after)) {
		reply(answer, 400, 400, "after is no number");
		return;
	}
	struct json *root = refunds_describe(
		receiver->refunds, httpd_query(request, "order_no"), (size_t)after);
	reply_json(answer, 200, &root);
}

static void handle_get_switches(
	void *context, const struct httpd_request *request, struct httpd_answer *answer)
{
	const struct receiver *receiver = context;

	(void)request;
	switches_answer(&receiver->misbehave, answer);
}

static void handle_set_switches(
	void *context, const struct httpd_request *request, struct httpd_answer *answer)
{
	struct receiver *receiver = context;

	switches_change(&receiver->misbehave, request, answer);
}

static const struct httpd_route routes[] = {
	{ "POST", "/hooks/*", handle_hook },
	{ "GET", "/v1/effects", handle_effects },
	{ "POST", "/v1/refunds", handle_refund },
	{ "GET", "/v1/refunds", handle_refunds },
	{ "GET", "/v1/misbehave", handle_get_switches },
	{ "POST", "/v1/misbehave", handle_set_switches },
	{ NULL, NULL, NULL },
};

/* ---- life */

static enum result start_listening(struct receiver *receiver, struct error *error)
{
	const struct receiver_settings *settings = receiver->settings;
	const struct httpd_settings server = {
		.address = settings->serving.address[0] == '\0' ? default_address
								: settings->serving.address,
		.routes = routes,
		.context = receiver,
		.body_max = BODY_MAX,
		.connection_max = CONNECTION_MAX,
		.time_limit_ms = TIME_LIMIT_MS,
	};
	enum result result = httpd_create(&server, &receiver->httpd, error);

	if (result != RESULT_OK)
		return result;
	service_set_check(SERVICE_CHECK_HTTP, true, NULL);
	log_info(log_event("listening"), log_uint("port", httpd_port(receiver->httpd)));
	return RESULT_OK;
}

enum result receiver_create(const struct receiver_settings *settings,
	struct receiver **receiver_out, struct error *error)
{
	struct receiver *receiver = memory_allocate(sizeof(*receiver));

	receiver->settings = settings;
	receiver->misbehave = settings->serving.misbehave;
	book_create(&receiver->refunds);
	reload(receiver);
	enum result result = start_listening(receiver, error);
	if (result == RESULT_OK)
		*receiver_out = receiver;
	else
		receiver_destroy(&receiver);
	return result;
}

enum result receiver_step(void *context, struct error *error)
{
	struct receiver *receiver = context;

	(void)error;
	httpd_step(receiver->httpd, STEP_WAIT_MS);
	return RESULT_OK;
}

void receiver_destroy(struct receiver **receiver)
{
	if (*receiver == NULL)
		return;
	httpd_destroy(&(*receiver)->httpd);
	hooks_clear(&(*receiver)->hooks);
	book_destroy(&(*receiver)->refunds);
	free(*receiver);
	*receiver = NULL;
}
