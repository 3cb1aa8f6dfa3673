/* lapsectl alert test: what a target says is shown, and nothing that is secret. */
#include <stdlib.h>
#include <string.h>

#include "tests/support/query.h"
#include "tests/support/robot.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"

static struct sandbox *sandbox;
static struct robot robot;

static void set_up(void)
{
	sandbox_create(SANDBOX_NO_BROKER, &sandbox);
	robot_create(sandbox, "dingtalk", "SECkeyOfDingtalk4711", &robot);
}

static void tear_down(void)
{
	robot_destroy(&robot);
	sandbox_destroy(&sandbox);
}

/* What lapsectl wrote; owned by the caller. */
static char *test(const char *target, const char *option, int expected)
{
	const char *const words[] = { "alert", "test", "--target", target, option, NULL };
	char *output = NULL;
	int status = sandbox_run(sandbox, "lapsectl", words, &output);

	ck_assert_msg(status == expected, "%d: %s", status, output);
	ck_assert_msg(strstr(output, "4711") == NULL, "a secret in: %s", output);
	return output;
}

START_TEST(a_message_marked_test_is_sent_and_written_down)
{
	char *output = test("dingtalk", "--json", 0);

	ck_assert_ptr_nonnull(strstr(output, "\"result\":\"ok\""));
	ck_assert_ptr_nonnull(strstr(output, "/robot/send?access_token=***"));
	ck_assert_ptr_nonnull(strstr(output, "\\\"errcode\\\":0"));
	free(output);
	ck_assert_uint_eq(robot_count(&robot), 1);
	ck_assert_ptr_nonnull(strstr(robot_body(&robot, 0), "[TEST] LapseTest (dev)"));
	ck_assert_int_eq(query_number(sandbox_query(sandbox),
				 "SELECT COUNT(*) FROM t_operator_audit WHERE action = 'test' AND "
				 "target_id = 'dingtalk' AND result = 'ok' AND auth = 'cli'"),
		1);
}
END_TEST

START_TEST(a_refusal_is_explained)
{
	robot_answer_text(
		&robot, "{\"errcode\":310000,\"errmsg\":\"token s3cretOfdingtalk4711\"}", 0);
	char *output = test("dingtalk", NULL, 1);

	ck_assert_ptr_nonnull(strstr(output, "body_error"));
	ck_assert_ptr_nonnull(strstr(output, "signature, keyword or address"));
	ck_assert_ptr_nonnull(strstr(output, "310000"));
	free(output);
}
END_TEST

START_TEST(it_needs_no_database)
{
	sandbox_set(sandbox, "LAPSE_MYSQL_URL", "mysql://lapse:x@127.0.0.1:1/lapse");
	char *output = test("dingtalk", NULL, 0);

	ck_assert_ptr_nonnull(strstr(output, "the audit has no row of it"));
	free(output);
	ck_assert_uint_eq(robot_count(&robot), 1);
}
END_TEST

START_TEST(a_dry_run_sends_nothing)
{
	free(test("dingtalk", "--dry-run", 0));
	ck_assert_uint_eq(robot_count(&robot), 0);
}
END_TEST

START_TEST(mistakes_in_targets_are_in_the_way_of_this_command_only)
{
	const char *const words[] = { "list", "alerts", NULL };

	free(test("nobody", NULL, 3));
	sandbox_set(sandbox, "LAPSE_ALERT_DINGTALK_TYPE", "pigeon");
	free(test("dingtalk", NULL, 78));
	ck_assert_int_eq(sandbox_run(sandbox, "lapsectl", words, NULL), 0);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		a_message_marked_test_is_sent_and_written_down,
		a_refusal_is_explained,
		it_needs_no_database,
		a_dry_run_sends_nothing,
		mistakes_in_targets_are_in_the_way_of_this_command_only,
	};
	const struct runner_fixture fixture = { set_up, tear_down };

	sandbox_need_servers();
	return runner_run_with("alert_test", &fixture, tests, ARRAY_LENGTH(tests));
}
