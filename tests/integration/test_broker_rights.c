/* What each RabbitMQ user of scripts/secrets may not do; what it may, test_users.c shows. */
#include <stdlib.h>
#include <string.h>

#include "common/base/compiler.h"
#include "common/base/memory.h"
#include "common/io/broker.h"
#include "tests/support/process.h"
#include "tests/support/rabbit.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"
#include "tests/support/scratch.h"
#include "tests/support/users.h"
#include "tests/support/wait_until.h"

static struct sandbox *sandbox;

static bool has_queues(void *context)
{
	(void)context;
	return rabbit_count(sandbox_rabbit(sandbox), "lapse.parked") != RABBIT_ABSENT &&
	       rabbit_count(sandbox_rabbit(sandbox), "lapse.timeout.due") != RABBIT_ABSENT &&
	       rabbit_count(sandbox_rabbit(sandbox), "lapse.events.webhooks") != RABBIT_ABSENT;
}

/* The topology as the programs make it, under their own users. */
static void set_up(void)
{
	sandbox_create(SANDBOX_NO_SCHEMA, &sandbox);
	users_create(sandbox);
	users_become(sandbox, "migrate");
	ck_assert_int_eq(
		sandbox_run(sandbox, "lapsectl", (const char *const[]){ "migrate", NULL }, NULL),
		0);
	users_become(sandbox, "consumer");
	(void)sandbox_start(sandbox, "lapse-consumer", NULL);
	users_become(sandbox, "events");
	sandbox_set(sandbox, "LAPSE_WEBHOOKS_FILE", "%s/secrets/webhooks", scratch_folder());
	(void)sandbox_start(sandbox, "lapse-events", NULL);
	WAIT_UNTIL(has_queues, NULL);
	sandbox_stop_all(sandbox, WAIT_LIMIT_MS);
}

static void tear_down(void)
{
	users_destroy();
	sandbox_destroy(&sandbox);
}

enum deed {
	DEED_DECLARE_QUEUE,
	DEED_DECLARE_EXCHANGE,
	DEED_GET,
	DEED_CONSUME,
	DEED_BIND, /* the due queue to this exchange */
};

static const struct refused {
	const char *user;
	enum deed deed;
	const char *name;
} refused[] = {
	{ "producer", DEED_DECLARE_QUEUE, "other" },
	{ "producer", DEED_DECLARE_EXCHANGE, "amq.other" },
	{ "consumer", DEED_DECLARE_QUEUE, "lapsed" },
	{ "events", DEED_DECLARE_QUEUE, "lapse.timeout.due" },
	{ "events", DEED_DECLARE_QUEUE, "lapse.delay.00" },
	{ "events", DEED_CONSUME, "lapse.timeout.due" },
	{ "events", DEED_BIND, "lapse.events" },
	{ "console", DEED_DECLARE_QUEUE, "lapse.parked" },
	{ "console", DEED_DECLARE_EXCHANGE, "lapse.events" },
	{ "console", DEED_GET, "lapse.timeout.due" },
	{ "console", DEED_CONSUME, "lapse.events.webhooks" },
	{ "ctl", DEED_DECLARE_QUEUE, "lapse.timeout.due" },
	{ "ctl", DEED_GET, "lapse.timeout.due" },
	{ "ctl", DEED_BIND, "lapse.events" },
};

static enum result do_it(struct broker *broker, const struct refused *what, struct error *error)
{
	struct broker_delivery delivery;

	switch (what->deed) {
	case DEED_DECLARE_QUEUE:
		return broker_declare_queue(broker, what->name, NULL, 0, error);
	case DEED_DECLARE_EXCHANGE:
		return broker_declare_exchange(broker, what->name, "topic", NULL, 0, error);
	case DEED_GET:
		return broker_get(broker, what->name, &delivery, error);
	case DEED_CONSUME:
		return broker_consume(broker, what->name, 1, error);
	case DEED_BIND:
		return broker_bind_queue(broker, "lapse.timeout.due", what->name, "#", error);
	}
	return RESULT_OK;
}

static enum result try_as(const struct refused *what, struct error *error)
{
	struct broker_settings settings = { .prefix = memory_copy_text("lapse"),
		.heartbeat_ms = 20000 };
	struct broker *broker = NULL;

	users_read_amqp(what->user, &settings.url);
	broker_create(&settings, "test", &broker);
	enum result result = broker_ensure_connected(broker, error);
	if (result == RESULT_OK)
		result = do_it(broker, what, error);
	broker_disconnect(broker);
	broker_destroy(&broker);
	free(settings.prefix);
	free(settings.url);
	return result;
}

START_TEST(no_user_may_touch_what_is_not_its_work)
{
	for (size_t i = 0; i < ARRAY_LENGTH(refused); i++) {
		struct error error = { 0 };
		enum result result = try_as(&refused[i], &error);

		ck_assert_msg(result != RESULT_OK && result != RESULT_NONE, "%s may: deed %d on %s",
			refused[i].user, (int)refused[i].deed, refused[i].name);
		ck_assert_msg(strstr(error.text, "ACCESS_REFUSED") != NULL, "%s: %s",
			refused[i].user, error.text);
	}
}
END_TEST

START_TEST(an_operator_may_look_at_parked_messages)
{
	static const char *const users[] = { "console", "ctl" };

	for (size_t i = 0; i < ARRAY_LENGTH(users); i++) {
		const struct refused look = { users[i], DEED_GET, "lapse.parked" };
		struct error error = { 0 };

		ck_assert_msg(try_as(&look, &error) == RESULT_NONE, "%s: %s", users[i], error.text);
	}
}
END_TEST

int main(void)
{
	static const struct runner_fixture fixture = { set_up, tear_down };
	const TTest *const tests[] = {
		no_user_may_touch_what_is_not_its_work,
		an_operator_may_look_at_parked_messages,
	};

	sandbox_need_servers();
	return runner_run_with("broker_rights", &fixture, tests, ARRAY_LENGTH(tests));
}
