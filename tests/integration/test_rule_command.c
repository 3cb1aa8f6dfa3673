/* lapsectl rule list, add, expire, test. */
#include <stdlib.h>
#include <string.h>

#include "common/base/result.h"
#include "common/base/text.h"
#include "tests/support/gateway.h"
#include "tests/support/operator.h"
#include "tests/support/query.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"
#include "tests/support/wait_until.h"

#define TOO_LONG                                 \
	"rule add --timeout 15m --yes --tenant " \
	"12345678901234567890123456789012345678901234567890123456789012345"

enum {
	SEEN_WITHIN_MS = 5000 /* what the contract promises */
};

static struct sandbox *sandbox;
static struct query *query;

static void set_up(void)
{
	sandbox_create(SANDBOX_NO_BROKER, &sandbox);
	query = sandbox_query(sandbox);
}

static void tear_down(void)
{
	sandbox_destroy(&sandbox);
}

START_TEST(a_rule_is_added_with_its_audit_row)
{
	operator_expect(sandbox, 0,
		"rule add --tenant t1 --category food --timeout 15m --priority -3 --yes "
		"--actor maria --reason because-it-is-so --plain",
		"1\tt1\t-\t-\tfood\t-3\t15m\t");
	query_expect(query, "t1 NULL NULL food -3 900 1 NULL",
		"SELECT tenant, channel, activity, category, priority, timeout_seconds, "
		"valid_from <= UTC_TIMESTAMP(3), valid_to FROM t_timeout_rule");
	query_expect(query, "maria admin cli rule_add rule 1 ok because-it-is-so \"t1\" 900",
		"SELECT actor, role, auth, action, target_type, target_id, result, reason_text, "
		"JSON_EXTRACT(after_json, '$.tenant'), JSON_EXTRACT(after_json, "
		"'$.timeout_seconds') FROM t_operator_audit");
}
END_TEST

START_TEST(a_rule_may_say_never_and_have_its_times)
{
	operator_expect(sandbox, 0,
		"rule add --channel app --timeout never --from 2099-01-01T00:00Z --until "
		"2099-02-01T00:00:00.500Z --yes",
		"to come");
	query_expect(query, "app 0 2099-01-01 00:00:00.000 2099-02-01 00:00:00.500",
		"SELECT channel, timeout_seconds, valid_from, valid_to FROM t_timeout_rule");
	operator_expect(sandbox, 0, "rule list --json -q",
		"\"timeout\":\"never\",\"valid_from\":\"2099-01-01T00:00:00.000Z\"");
}
END_TEST

START_TEST(a_rule_with_a_mistake_is_refused_and_leaves_nothing)
{
	static const char *const lines[] = {
		"rule add --yes",
		"rule add --timeout 15 --yes",
		"rule add --timeout 1500ms --yes",
		"rule add --timeout -1s --yes",
		"rule add --timeout 15m --priority x --yes",
		"rule add --timeout 15m --priority 1000001 --yes",
		"rule add --timeout 15m --from tomorrow --yes",
		"rule add --timeout 15m --until 2026-02-30T00:00Z --yes",
		"rule add --timeout 15m operand --yes",
		"rule add --timeout 15m --nothing --yes",
		"rule add --timeout 15m",
		"rule expire --yes",
		"rule expire x --yes",
		"rule expire 1 2 --yes",
		"rule test --timeout soon",
	};
	static const char *const impossible[] = {
		"rule add --timeout 15m --tenant= --yes",
		"rule add --timeout 60000d --yes",
		"rule add --timeout 15m --until 2020-01-01T00:00Z --yes",
		"rule add --timeout 15m --from 2099-01-01T00:00Z --until 2098-01-01T00:00Z --yes",
	};

	for (size_t i = 0; i < ARRAY_LENGTH(lines); i++)
		operator_expect(sandbox, EXIT_STATUS_USAGE, lines[i], NULL);
	for (size_t i = 0; i < ARRAY_LENGTH(impossible); i++)
		operator_expect(sandbox, EXIT_STATUS_USAGE, impossible[i], "add rule: ");
	operator_expect(sandbox, EXIT_STATUS_USAGE, TOO_LONG, "1 to 64 characters");
	operator_expect(sandbox, 0, "rule add --timeout 15m --dry-run", "dry run");
	query_expect(query, "0 0",
		"SELECT (SELECT COUNT(*) FROM t_timeout_rule), (SELECT COUNT(*) FROM "
		"t_operator_audit)");
}
END_TEST

START_TEST(a_rule_in_force_is_ended_and_never_edited)
{
	operator_expect(sandbox, 0, "rule add --timeout 15m --yes", NULL);
	operator_expect(sandbox, 0, "rule expire 1 --until 2099-01-01T00:00Z --yes",
		"2099-01-01T00:00:00.000Z");
	/* Longer would be another rule. */
	operator_expect(sandbox, EXIT_STATUS_REFUSED,
		"rule expire 1 --until 2099-02-01T00:00Z --yes", "it has ended by then");
	operator_expect(sandbox, EXIT_STATUS_REFUSED,
		"rule expire 1 --until 2020-01-01T00:00Z --yes", "that time has passed");
	operator_expect(sandbox, 0, "rule expire 1 --yes", "ended");
	operator_expect(
		sandbox, EXIT_STATUS_REFUSED, "rule expire 1 --yes", "it has ended by then");
	operator_expect(
		sandbox, EXIT_STATUS_NOT_FOUND, "rule expire 7 --yes", "there is no rule 7");
	query_expect(query, "900 1",
		"SELECT timeout_seconds, valid_to <= UTC_TIMESTAMP(3) FROM t_timeout_rule");
	query_expect(query, "ok,refused,refused,ok,refused",
		"SELECT GROUP_CONCAT(result ORDER BY id) FROM t_operator_audit WHERE "
		"action = 'rule_end'");
	query_expect(query, "2",
		"SELECT COUNT(*) FROM t_operator_audit WHERE action = 'rule_end' AND "
		"JSON_EXTRACT(before_json, '$.timeout_seconds') = 900 AND after_json IS NOT "
		"NULL");
}
END_TEST

START_TEST(a_list_shows_the_best_first_and_what_is_over_only_when_asked)
{
	query_run(query,
		"INSERT INTO t_timeout_rule(tenant, channel, priority, timeout_seconds, "
		"valid_to) VALUES (NULL, NULL, 0, 60, NULL), ('t', NULL, 5, 120, NULL), "
		"('t', 'app', 0, NULL, NULL), ('u', NULL, 9, 240, NULL), ('v', NULL, 0, 1, "
		"UTC_TIMESTAMP(3) - INTERVAL 1 DAY)");
	char *output = NULL;
	const char *const words[] = { "list", "rules", "--plain", "-q", NULL };
	ck_assert_int_eq(sandbox_run(sandbox, "lapsectl", words, &output), 0);
	const char *best = strstr(output, "3\tt\tapp\t-\t-\t0\tnever\t");
	const char *second = strstr(output, "4\tu\t-\t-\t-\t9\t4m\t");
	const char *third = strstr(output, "2\tt\t-\t-\t-\t5\t2m\t");
	const char *last = strstr(output, "1\t-\t-\t-\t-\t0\t1m\t");
	ck_assert_msg(
		best != NULL && best < second && second < third && third < last, "%s", output);
	ck_assert_ptr_null(strstr(output, "ended"));
	free(output);
	operator_expect(sandbox, 0, "rule list --all --plain", "5\tv\t-\t-\t-\t0\t1s\t");
	query_run(query, "DELETE FROM t_timeout_rule");
	operator_expect(sandbox, 0, "rule list --json", "[]\n");
}
END_TEST

/* Ten orders, eight of them of rule 2, which says ten minutes; minutes: when they were paid. */
static void insert_orders(void)
{
	query_run(query,
		"INSERT INTO t_order(order_no, amount_cents, status, created_at, "
		"expire_time, rule_id, pay_time) SELECT CONCAT('P', m), 1, 'PAID', "
		"UTC_TIMESTAMP(3) - INTERVAL 1 HOUR, UTC_TIMESTAMP(3) - INTERVAL 50 MINUTE, "
		"2, UTC_TIMESTAMP(3) - INTERVAL 60 - m MINUTE FROM (SELECT 1 AS m UNION SELECT 3 "
		"UNION SELECT 5 UNION SELECT 7 UNION SELECT 9) AS minutes");
	query_run(query,
		"INSERT INTO t_order(order_no, amount_cents, status, created_at, "
		"expire_time, close_reason, rule_id) VALUES "
		"('T1', 1, 'CLOSED', UTC_TIMESTAMP(3) - INTERVAL 1 HOUR, UTC_TIMESTAMP(3) - "
		"INTERVAL 50 MINUTE, 'TIMEOUT', 2), "
		"('C1', 1, 'CLOSED', UTC_TIMESTAMP(3) - INTERVAL 1 HOUR, UTC_TIMESTAMP(3) - "
		"INTERVAL 50 MINUTE, 'USER_CANCEL', 2), "
		"('U1', 1, 'UNPAID', UTC_TIMESTAMP(3), UTC_TIMESTAMP(3) + INTERVAL 10 MINUTE, "
		"NULL, 2), "
		/* Ten minutes of its own. */
		"('O1', 1, 'UNPAID', UTC_TIMESTAMP(3), UTC_TIMESTAMP(3) + INTERVAL 10 MINUTE, "
		"NULL, NULL), "
		"('N1', 1, 'UNPAID', UTC_TIMESTAMP(3), NULL, NULL, 3)");
	/* Longer ago than a day. */
	query_run(query, "INSERT INTO t_order(order_no, amount_cents, rule_id, created_at, "
			 "expire_time) VALUES ('OLD', 1, 2, UTC_TIMESTAMP(3) - INTERVAL 2 DAY, "
			 "UTC_TIMESTAMP(3) - INTERVAL 2 DAY + INTERVAL 10 MINUTE)");
	query_run(query, "UPDATE t_order SET id = id + 100; UPDATE t_order SET id = 1 WHERE "
			 "order_no = 'OLD'");
}

START_TEST(a_test_shows_the_rule_and_what_another_one_would_change)
{
	query_run(query, "INSERT INTO t_timeout_rule(tenant, timeout_seconds) VALUES (NULL, 60), "
			 "('t', 600), ('n', 0)");
	insert_orders();
	operator_expect(sandbox, 0, "rule test --tenant t --json",
		"\"rule\":{\"id\":\"2\",\"tenant\":\"t\"");
	operator_expect(sandbox, 0, "rule test --tenant t --json",
		"\"orders\":{\"since\":\"1d\",\"orders\":10,\"of_this_rule\":8,\"paid\":5,"
		"\"timed_out\":1,\"cancelled\":1,\"unpaid\":1,\"new_timeout\":null,"
		"\"paid_but_then_too_late\":null}");
	operator_expect(sandbox, 0, "rule test --tenant t --timeout 5m --json",
		"\"new_timeout\":\"5m\",\"paid_but_then_too_late\":3}");
	operator_expect(sandbox, 0, "rule test --tenant t --timeout never --json",
		"\"new_timeout\":\"never\",\"paid_but_then_too_late\":0}");
	operator_expect(sandbox, 0, "rule test --tenant n --json", "\"of_this_rule\":1,");
	operator_expect(sandbox, 0, "rule test --tenant t --since 3d --json",
		"\"since\":\"3d\",\"orders\":11,\"of_this_rule\":9,");
	operator_expect(sandbox, 0, "rule test", "timeout");
	query_run(query, "DELETE FROM t_timeout_rule WHERE tenant IS NULL");
	operator_expect(sandbox, 0, "rule test --tenant x", "no rule matches");
	operator_expect(sandbox, 0, "rule test --tenant x --json", "\"rule\":null,");
	operator_expect(sandbox, 0, "rule test --tenant x --json", "\"of_this_rule\":0,");
	query_run(query, "UPDATE t_order SET rule_id = NULL WHERE order_no = 'N1'");
	operator_expect(sandbox, 0, "rule test --tenant x --json", "\"of_this_rule\":1,");
	query_expect(query, "0", "SELECT COUNT(*) FROM t_operator_audit");
}
END_TEST

START_TEST(a_dry_run_shows_which_later_orders_change)
{
	query_run(query, "INSERT INTO t_timeout_rule(tenant, channel, timeout_seconds) VALUES "
			 "(NULL, NULL, 60), ('t', NULL, 600), ('t', 'app', 0)");
	insert_orders();
	operator_expect(sandbox, 0, "rule add --tenant t --timeout 5m --dry-run --plain",
		"takes from\t2\tt\t-\t-\t-\t0\t10m\t");
	operator_expect(
		sandbox, 0, "rule add --tenant t --timeout 5m --dry-run --plain", "Z\t-\t8\n");
	operator_expect(sandbox, 0, "rule add --tenant t --timeout 5m --dry-run --plain",
		"loses to\t3\tt\tapp\t-\t-\t0\tnever\t");
	operator_expect(sandbox, 0, "rule add --tenant t --timeout 5m --dry-run",
		"orders that exist keep their deadline");
	operator_expect(sandbox, 0, "rule add --tenant t --timeout 5m --dry-run --json -q",
		"\"loses_to\":[{\"id\":\"3\"");
	operator_expect(sandbox, EXIT_STATUS_USAGE,
		"rule add --timeout 5m --until 2020-01-01T00:00Z --dry-run", "before it begins");
	operator_expect(sandbox, 0, "rule expire 2 --dry-run --plain", "taken over by\t1\t-\t");
	operator_expect(sandbox, 0, "rule expire 1 --dry-run", "never times out");
	operator_expect(sandbox, 0, "rule expire 2 --dry-run --json", "\"orders_24h\":8}");
	operator_expect(
		sandbox, EXIT_STATUS_NOT_FOUND, "rule expire 9 --dry-run", "there is no rule 9");
	query_expect(query, "3 3 0",
		"SELECT COUNT(*), SUM(valid_to IS NULL), (SELECT COUNT(*) FROM t_operator_audit) "
		"FROM t_timeout_rule");
}
END_TEST

START_TEST(a_list_counts_what_each_rule_decided_in_a_day)
{
	query_run(query, "INSERT INTO t_timeout_rule(tenant, timeout_seconds) VALUES (NULL, 60), "
			 "('t', 600), ('n', 0)");
	insert_orders();
	operator_expect(sandbox, 0, "list rules --plain", "\tin force\t8\n");
	operator_expect(sandbox, 0, "rule list --json", "\"orders_24h\":0}]");
	query_run(query, "RENAME TABLE t_order TO t_real; CREATE VIEW t_order AS SELECT id, "
			 "IF(SLEEP(1) = 0, created_at, NULL) AS created_at, rule_id FROM t_real");
	operator_expect(sandbox, 0, "list rules --plain", "\tin force\tunknown\n");
	operator_expect(sandbox, 0, "rule list --json", "\"orders_24h\":null}]");
}
END_TEST

static struct gateway_run gateway;

static bool new_rule_is_followed(void *context)
{
	static unsigned int number;
	char body[128];

	(void)context;
	(void)text_format(body, sizeof(body),
		"{\"order_no\":\"R%u\",\"user_id\":1,\"amount_cents\":1}", number);
	ck_assert_uint_eq(api_client_post(gateway.client, "/v1/orders", body)->status, 201);
	return query_number(query,
		       "SELECT TIMESTAMPDIFF(SECOND, created_at, expire_time) FROM t_order WHERE "
		       "order_no = 'R%u'",
		       number++) == 120;
}

START_TEST(a_running_gateway_follows_a_new_rule_within_five_seconds)
{
	operator_expect(sandbox, 0, "rule add --timeout 1m --yes", NULL);
	gateway_start(&gateway, sandbox);
	ck_assert(!new_rule_is_followed(NULL));
	operator_expect(sandbox, 0, "rule add --timeout 2m --yes", NULL);
	WAIT_UNTIL_WITHIN(new_rule_is_followed, NULL, SEEN_WITHIN_MS);
	gateway_leave(&gateway);
}
END_TEST

int main(void)
{
	const struct runner_fixture fixture = { set_up, tear_down };
	const TTest *const tests[] = {
		a_rule_is_added_with_its_audit_row,
		a_rule_may_say_never_and_have_its_times,
		a_rule_with_a_mistake_is_refused_and_leaves_nothing,
		a_rule_in_force_is_ended_and_never_edited,
		a_list_shows_the_best_first_and_what_is_over_only_when_asked,
		a_test_shows_the_rule_and_what_another_one_would_change,
		a_dry_run_shows_which_later_orders_change,
		a_list_counts_what_each_rule_decided_in_a_day,
		a_running_gateway_follows_a_new_rule_within_five_seconds,
	};

	sandbox_need_servers();
	return runner_run_with("rule_command", &fixture, tests, ARRAY_LENGTH(tests));
}
