/* alert_group: what belongs together goes together, and only to those who want it. */
#include <stdlib.h>

#include "common/base/text.h"
#include "retry/alert_group.h"
#include "tests/support/runner.h"

enum {
	ROWS = 250
};

static struct alert_row rows[ROWS];
static struct alert_batch batch = { .rows = rows };
static struct alert_target_list targets;

static void set_up(void)
{
	for (size_t i = 0; i < ROWS; i++)
		rows[i] = (struct alert_row){ .id = i + 1,
			.kind = ALERT_KIND_TASK_DEAD,
			.severity = ALERT_SEVERITY_WARNING,
			.task_kind = "stock_restore",
			.attempts = 1 };
	targets = (struct alert_target_list){ .items = { { .name = "ops" }, { .name = "pager" } },
		.count = 2 };
}

START_TEST(rows_of_one_kind_are_one_message)
{
	size_t count = 0;

	set_up();
	batch.count = 4;
	(void)text_copy(rows[2].task_kind, sizeof(rows[2].task_kind), "refund");
	rows[3].kind = ALERT_KIND_ORDER_STUCK;
	struct alert_group *groups = alert_group_list(&batch, &targets, &count);
	ck_assert_uint_eq(count, 3);
	ck_assert_uint_eq(groups[0].count, 2);
	ck_assert_uint_eq(groups[1].rows[0]->id, 3);
	ck_assert_uint_eq(groups[2].rows[0]->id, 4);
	free(groups);
}
END_TEST

START_TEST(a_message_has_a_largest_size)
{
	size_t count = 0;

	set_up();
	batch.count = ROWS;
	struct alert_group *groups = alert_group_list(&batch, &targets, &count);
	ck_assert_uint_eq(count, 3);
	ck_assert_uint_eq(groups[0].count, ALERT_GROUP_ROWS_MAX);
	ck_assert_uint_eq(groups[2].count, ROWS - 2 * ALERT_GROUP_ROWS_MAX);
	free(groups);
}
END_TEST

START_TEST(a_target_gets_what_is_severe_enough_and_not_delivered_yet)
{
	size_t count = 0;

	set_up();
	batch.count = 3;
	targets.items[1].min_severity = ALERT_SEVERITY_CRITICAL;
	rows[1].severity = ALERT_SEVERITY_CRITICAL;
	(void)text_copy(rows[2].targets, sizeof(rows[2].targets),
		"{\"ops\":{\"result\":\"ok\",\"code\":200},\"pager\":{\"result\":\"timeout\"}}");
	rows[2].severity = ALERT_SEVERITY_CRITICAL;
	struct alert_group *groups = alert_group_list(&batch, &targets, &count);
	ck_assert_uint_eq(count, 3);
	ck_assert_int_eq(groups[0].targets[0].state, ALERT_GROUP_WAITING);
	ck_assert_int_eq(groups[0].targets[1].state, ALERT_GROUP_UNWANTED);
	ck_assert_int_eq(groups[1].targets[1].state, ALERT_GROUP_WAITING);
	ck_assert_int_eq(groups[2].targets[0].state, ALERT_GROUP_UNWANTED);
	ck_assert_int_eq(groups[2].targets[1].state, ALERT_GROUP_WAITING);
	ck_assert(!alert_group_is_over(&groups[2], 2));
	groups[2].targets[1] = (struct alert_group_target){
		.state = ALERT_GROUP_FAILED, .result = "http_error", .status = 500
	};
	ck_assert(alert_group_is_over(&groups[2], 2));
	ck_assert(alert_group_has_failed(&groups[2], 2));
	char *text = alert_group_write_targets(&groups[2], &targets);
	ck_assert_str_eq(text, "{\"ops\":{\"result\":\"ok\",\"code\":0},"
			       "\"pager\":{\"result\":\"http_error\",\"code\":500}}");
	free(text);
	free(groups);
}
END_TEST

START_TEST(a_broken_memory_of_deliveries_delivers_again)
{
	size_t count = 0;

	set_up();
	batch.count = 1;
	(void)text_copy(rows[0].targets, sizeof(rows[0].targets), "{\"ops\":[\"ok");
	struct alert_group *groups = alert_group_list(&batch, &targets, &count);
	ck_assert_int_eq(groups[0].targets[0].state, ALERT_GROUP_WAITING);
	free(groups);
}
END_TEST

START_TEST(tries_come_after_longer_and_longer_waits_and_end)
{
	static const struct {
		uint32_t attempts;
		uint64_t wanted_ms;
	} cases[] = { { 1, 10000 }, { 2, 30000 }, { 3, 120000 }, { 4, 600000 }, { 5, 1800000 },
		{ ALERT_GROUP_TRIES_MAX - 1, 1800000 } };
	struct alert_group group = { .rows = { &rows[0] }, .count = 1 };

	set_up();
	for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
		rows[0].attempts = cases[i].attempts;
		uint64_t delay_ms = alert_group_delay_ms(&group);
		ck_assert_uint_ge(delay_ms, cases[i].wanted_ms * 4 / 5);
		ck_assert_uint_le(delay_ms, cases[i].wanted_ms * 6 / 5);
	}
	rows[0].attempts = 1;
	group.retry_after_ms = 60000;
	ck_assert_uint_eq(alert_group_delay_ms(&group), 60000);
	rows[0].attempts = ALERT_GROUP_TRIES_MAX;
	ck_assert_uint_eq(alert_group_delay_ms(&group), 0);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		rows_of_one_kind_are_one_message,
		a_message_has_a_largest_size,
		a_target_gets_what_is_severe_enough_and_not_delivered_yet,
		a_broken_memory_of_deliveries_delivers_again,
		tries_come_after_longer_and_longer_waits_and_end,
	};

	return runner_run("alert_group", tests, ARRAY_LENGTH(tests));
}
