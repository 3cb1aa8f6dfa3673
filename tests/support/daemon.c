#include "tests/support/daemon.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include <check.h>

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/io/broker.h"
#include "common/order/timeout_message.h"
#include "tests/support/http_client.h"
#include "tests/support/process.h"
#include "tests/support/sandbox.h"
#include "tests/support/wait_until.h"

enum {
	ANSWER_LIMIT_MS = 2000,
	RESIDENT_MAX_KIB = 16 * 1024,
	LAST_WORDS = 2000,
	HTTP_OK = 200,
	HTTP_UNAVAILABLE = 503,
};

void daemon_start(struct sandbox *sandbox, const char *program, struct daemon *daemon_out)
{
	daemon_out->port = sandbox_free_port();
	sandbox_set(sandbox, "LAPSE_OPS_ADDR", "127.0.0.1:%u", daemon_out->port);
	daemon_out->process = sandbox_start(sandbox, program, NULL);
	sandbox_unset(sandbox, "LAPSE_OPS_ADDR");
}

void daemon_start_ready(struct sandbox *sandbox, const char *program, struct daemon *daemon_out)
{
	daemon_start(sandbox, program, daemon_out);
	WAIT_UNTIL(daemon_is_ready, daemon_out);
}

bool daemon_is_ready(void *daemon)
{
	const struct daemon *asked = daemon;

	return http_client_get(asked->port, "/readyz", ANSWER_LIMIT_MS, NULL) == HTTP_OK;
}

bool daemon_is_not_ready(void *daemon)
{
	const struct daemon *asked = daemon;

	return http_client_get(asked->port, "/readyz", ANSWER_LIMIT_MS, NULL) == HTTP_UNAVAILABLE;
}

bool daemon_says(const struct daemon *daemon, const char *words)
{
	char *answer = memory_allocate(HTTP_CLIENT_SIZE);

	(void)http_client_get(daemon->port, "/readyz?verbose", ANSWER_LIMIT_MS, answer);
	bool is_found = strstr(answer, words) != NULL;
	free(answer);
	return is_found;
}

double daemon_metric(const struct daemon *daemon, const char *series)
{
	return http_client_metric(daemon->port, series);
}

static void fail_with_last_words(const struct daemon *daemon, const char *what, int status)
{
	char *errors = process_errors(daemon->process);
	size_t size = strlen(errors);

	ck_abort_msg("%s, status %d; its last words:\n%s", what, status,
		errors + (size > LAST_WORDS ? size - LAST_WORDS : 0));
}

void daemon_stop(const struct daemon *daemon, uint64_t limit_ms)
{
	process_signal(daemon->process, SIGTERM);
	int status = process_wait(daemon->process, limit_ms);
	if (status != 0)
		fail_with_last_words(daemon,
			status == PROCESS_TIME_IS_UP ? "it did not end" : "it did not end well",
			status);
}

void daemon_expect_well(const struct daemon *daemon)
{
	if (!process_is_alive(daemon->process))
		fail_with_last_words(daemon, "it has ended by itself",
			daemon->process == NULL ? 0 : process_wait(daemon->process, 0));
#ifndef TEST_SANITIZED
	ck_assert_uint_le(process_resident_kib(daemon->process), RESIDENT_MAX_KIB);
#endif
}

static void publish_order(struct broker *broker, const char *queue, const char *order_no)
{
	char body[TIMEOUT_MESSAGE_SIZE];
	const struct broker_message message = { .exchange = "",
		.routing_key = queue,
		.type = TIMEOUT_MESSAGE_TYPE,
		.content_type = TIMEOUT_MESSAGE_CONTENT_TYPE,
		.message_id = order_no,
		.body = body,
		.body_size = timeout_message_write(body, order_no) };
	struct error error = { .text = "" };
	uint64_t number = 0;

	ck_assert_msg(
		broker_publish(broker, &message, &number, &error) == RESULT_OK, "%s", error.text);
}

static void await_confirms(struct broker *broker, uint32_t count)
{
	struct broker_event event;
	struct error error = { .text = "" };
	uint64_t confirmed = 0;

	while (confirmed < count) {
		enum result result = broker_next(broker, WAIT_LIMIT_MS, &event, &error);

		ck_assert_msg(result == RESULT_OK, "confirms: %s", error.text);
		ck_assert_int_eq(event.kind, BROKER_EVENT_CONFIRM);
		ck_assert(event.is_positive);
		/* Single confirms come in the order of the messages from one queue. */
		confirmed = event.number > confirmed ? event.number : confirmed;
	}
}

void daemon_flood(
	const struct sandbox *sandbox, const char *queue, const char *prefix, uint32_t count)
{
	char *url = memory_copy_text(sandbox_amqp_url(sandbox));
	char prefix_of_names[] = "lapse";
	const struct broker_settings settings = { url, prefix_of_names, 20000 };
	struct broker *broker = NULL;
	struct error error = { .text = "" };

	broker_create(&settings, "test", &broker);
	ck_assert_int_eq(broker_ensure_connected(broker, &error), RESULT_OK);
	ck_assert_int_eq(broker_enable_confirms(broker, &error), RESULT_OK);
	for (uint32_t i = 0; i < count; i++) {
		char order_no[TEXT_KEY_SIZE];

		(void)text_format(order_no, sizeof(order_no), "%s%" PRIu32, prefix, i);
		publish_order(broker, queue, order_no);
	}
	await_confirms(broker, count);
	broker_disconnect(broker);
	broker_destroy(&broker);
	free(url);
}
