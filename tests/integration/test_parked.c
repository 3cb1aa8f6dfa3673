/* lapsectl list, replay and discard parked: looking costs nothing, each act is written down. */
#include <stdlib.h>
#include <string.h>

#include "common/base/compiler.h"
#include "common/base/text.h"
#include "common/io/signature.h"
#include "tests/support/process.h"
#include "tests/support/query.h"
#include "tests/support/rabbit.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"

#define PARKED "lapse.parked"
#define DUE    "lapse.timeout.due"

enum {
	LOOK_COUNT = 100 /* more than the delivery limit of a quorum queue */
};

static const char good[] = "{\"order_no\":\"A1\"}";
static const char bad[] = "{\"order_no\":";
static struct sandbox *sandbox;

static void set_up(void)
{
	sandbox_create(SANDBOX_EVERYTHING, &sandbox);
	rabbit_declare_queue(sandbox_rabbit(sandbox), PARKED);
	rabbit_declare_queue(sandbox_rabbit(sandbox), DUE);
}

static void tear_down(void)
{
	sandbox_destroy(&sandbox);
}

static void park(const char *body, const char *origin)
{
	const struct rabbit_header headers[] = { { "x-lapse-reason", "unknown order", 0 },
		{ "x-lapse-origin", origin, 0 } };
	const struct rabbit_message message = {
		.routing_key = PARKED,
		.body = body,
		.body_size = strlen(body),
		.message_id = "m-1",
		.type = "order.timeout.v1",
		.content_type = "application/json",
		.headers = headers,
		.header_count = ARRAY_LENGTH(headers),
	};

	rabbit_publish(sandbox_rabbit(sandbox), &message);
}

/* says (NULL: anything) is in what was written. */
static int operate(const char *const *words, const char *says)
{
	char *output = NULL;
	int status = sandbox_run(sandbox, "lapsectl", words, &output);

	if (says != NULL)
		ck_assert_msg(strstr(output, says) != NULL, "\"%s\" is not in: %s", says, output);
	free(output);
	return status;
}

static int act(const char *verb, const char *body, const char *says)
{
	char sha256[SIGNATURE_HEX_SIZE];
	const char *const words[] = { verb, "parked", sha256, "--yes", "--reason",
		"not needed any more", NULL };
	const char *const replay[] = { verb, "parked", sha256, "--yes", NULL };

	signature_sha256_hex(sha256, body, strlen(body));
	return operate(text_equals(verb, "replay") ? replay : words, says);
}

static void expect_audit(const char *action, const char *result)
{
	ck_assert_int_eq(query_number(sandbox_query(sandbox),
				 "SELECT COUNT(*) FROM t_operator_audit WHERE action = '%s' AND "
				 "target_type = 'parked' AND result = '%s' AND before_json LIKE "
				 "'%%unknown order%%'",
				 action, result),
		1);
}

START_TEST(looking_many_times_leaves_every_message_in_place)
{
	static const char *const words[] = { "list", "parked", "--plain", NULL };

	park(good, DUE);
	park(bad, DUE);
	for (int i = 0; i < LOOK_COUNT; i++)
		ck_assert_int_eq(operate(words, "unknown order"), 0);
	ck_assert_int_eq(rabbit_count(sandbox_rabbit(sandbox), PARKED), 2);
}
END_TEST

START_TEST(a_replayed_message_goes_back_to_where_it_came_from_and_is_written_down)
{
	park(bad, DUE);
	park(good, DUE);
	ck_assert_int_eq(act("replay", good, "done"), 0);
	ck_assert_int_eq(rabbit_count(sandbox_rabbit(sandbox), DUE), 1);
	ck_assert_int_eq(rabbit_count(sandbox_rabbit(sandbox), PARKED), 1);
	expect_audit("replay", "ok");
}
END_TEST

START_TEST(a_malformed_message_is_not_replayed)
{
	park(bad, DUE);
	ck_assert_int_eq(act("replay", bad, "refused"), 5);
	ck_assert_int_eq(rabbit_count(sandbox_rabbit(sandbox), PARKED), 1);
	ck_assert_int_eq(rabbit_count(sandbox_rabbit(sandbox), DUE), 0);
	expect_audit("replay", "refused");
}
END_TEST

START_TEST(a_message_of_a_queue_that_is_not_ours_is_not_replayed)
{
	park(good, "somebody.else");
	ck_assert_int_eq(act("replay", good, "refused"), 5);
	ck_assert_int_eq(rabbit_count(sandbox_rabbit(sandbox), PARKED), 1);
}
END_TEST

START_TEST(a_discarded_message_lives_on_in_the_audit)
{
	park(bad, DUE);
	ck_assert_int_eq(act("discard", bad, "done"), 0);
	ck_assert_int_eq(rabbit_count(sandbox_rabbit(sandbox), PARKED), 0);
	expect_audit("discard", "ok");
}
END_TEST

START_TEST(nothing_is_done_without_a_reason_or_a_yes)
{
	static const char *const no_reason[] = { "discard", "parked", "00", "--yes", NULL };
	static const char *const no_yes[] = { "replay", "parked", "00", NULL };
	static const char *const unknown[] = { "replay", "parked", "00", "--yes", NULL };

	ck_assert_int_eq(operate(no_reason, "--reason"), 64);
	ck_assert_int_eq(operate(no_yes, "--yes"), 64);
	ck_assert_int_eq(operate(unknown, "not found"), 3);
}
END_TEST

int main(void)
{
	static const struct runner_fixture fixture = { set_up, tear_down };
	const TTest *const tests[] = {
		looking_many_times_leaves_every_message_in_place,
		a_replayed_message_goes_back_to_where_it_came_from_and_is_written_down,
		a_malformed_message_is_not_replayed,
		a_message_of_a_queue_that_is_not_ours_is_not_replayed,
		a_discarded_message_lives_on_in_the_audit,
		nothing_is_done_without_a_reason_or_a_yes,
	};

	sandbox_need_servers();
	return runner_run_with("parked", &fixture, tests, ARRAY_LENGTH(tests));
}
