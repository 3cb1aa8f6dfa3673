/* alert_body: the message has exactly the shape of Alertmanager's webhook, version 4. */
#include <stdlib.h>
#include <string.h>

#include "common/base/text.h"
#include "common/report/alert_body.h"
#include "tests/support/runner.h"

static const struct alert_origin origin = { .env = "prod",
	.console_url = "https://ops.example/lapse",
	.runbook_url = "https://ops.example/runbooks" };

static struct alert_row make_row(void)
{
	return (struct alert_row){ .id = 7,
		.kind = ALERT_KIND_TASK_DEAD,
		.severity = ALERT_SEVERITY_WARNING,
		.ref = "918273",
		.order_no = "A1",
		.task_kind = "stock_restore",
		.summary = "stock_restore failed 6 times",
		.description = "order A1: HTTP 503",
		.fired_at = "2026-01-31T10:21:03.120Z",
		.fired_count = 1,
		.calls = 6 };
}

static char *write(
	const struct alert_row *const *rows, size_t count, const struct alert_origin *from)
{
	const struct alert_news news = { .rows = rows, .count = count, .origin = from };

	return alert_body_write(&news, "ops");
}

static void format_id(const struct alert_row *const *rows, size_t count, const char *receiver,
	char id[ALERT_BODY_ID_SIZE])
{
	const struct alert_news news = { .rows = rows, .count = count, .origin = &origin };

	alert_body_format_id(&news, receiver, id);
}

START_TEST(one_alert_reads_as_the_document_shows)
{
	const struct alert_row row = make_row();
	const struct alert_row *const rows[] = { &row };
	char *body = write(rows, 1, &origin);

	ck_assert_str_eq(body,
		"{\"version\":\"4\",\"groupKey\":\"{}:{alertname=\\\"LapseTaskDead\\\","
		"kind=\\\"stock_restore\\\"}\",\"truncatedAlerts\":0,\"status\":\"firing\","
		"\"receiver\":\"ops\",\"groupLabels\":{\"alertname\":\"LapseTaskDead\","
		"\"kind\":\"stock_restore\"},\"commonLabels\":{\"alertname\":\"LapseTaskDead\","
		"\"kind\":\"stock_restore\",\"severity\":\"warning\",\"service\":\"lapse\","
		"\"env\":\"prod\"},\"commonAnnotations\":{\"summary\":\"1 task needs a person\"},"
		"\"externalURL\":\"https://ops.example/lapse/tasks?state=DEAD\","
		"\"alerts\":[{\"status\":\"firing\",\"labels\":{\"alertname\":\"LapseTaskDead\","
		"\"kind\":\"stock_restore\",\"severity\":\"warning\",\"service\":\"lapse\","
		"\"env\":\"prod\"},\"annotations\":{\"summary\":\"stock_restore failed 6 times\","
		"\"description\":\"order A1: HTTP 503\",\"order_no\":\"A1\","
		"\"task_id\":\"918273\",\"calls\":\"6\","
		"\"runbook_url\":\"https://ops.example/runbooks#LapseTaskDead\"},"
		"\"startsAt\":\"2026-01-31T10:21:03.120Z\",\"endsAt\":\"0001-01-01T00:00:00Z\","
		"\"generatorURL\":\"https://ops.example/lapse/tasks/918273\","
		"\"fingerprint\":\"8af158810b212341\"}]}");
	free(body);
}
END_TEST

START_TEST(a_message_about_many_fires_while_one_of_them_does)
{
	struct alert_row rows[3] = { make_row(), make_row(), make_row() };
	const struct alert_row *const list[] = { &rows[0], &rows[1], &rows[2] };

	rows[0].is_resolved = true;
	(void)text_copy(
		rows[0].resolved_at, sizeof(rows[0].resolved_at), "2026-01-31T11:00:00.000Z");
	rows[2].severity = ALERT_SEVERITY_CRITICAL;
	char *body = write(list, 3, &origin);
	ck_assert_ptr_nonnull(strstr(body, "\"status\":\"firing\",\"receiver\""));
	ck_assert_ptr_nonnull(strstr(body, "\"summary\":\"2 tasks need a person\""));
	ck_assert_ptr_nonnull(strstr(body, "\"endsAt\":\"2026-01-31T11:00:00.000Z\""));
	/* The severity is not common to all. */
	ck_assert_ptr_nonnull(strstr(body,
		"\"commonLabels\":{\"alertname\":\"LapseTaskDead\",\"kind\":\"stock_restore\","
		"\"service\""));
	free(body);
	body = write(list, 1, &origin);
	ck_assert_ptr_nonnull(strstr(body, "\"status\":\"resolved\",\"receiver\""));
	ck_assert_ptr_nonnull(strstr(body, "\"1 task resolved\""));
	free(body);
}
END_TEST

START_TEST(without_a_console_there_are_no_links)
{
	const struct alert_origin bare = { .env = "dev" };
	struct alert_row row = make_row();
	const struct alert_row *const rows[] = { &row };

	row.kind = ALERT_KIND_ORDER_STUCK;
	row.task_kind[0] = '\0';
	row.calls = 0;
	(void)text_copy(row.ref, sizeof(row.ref), "A1");
	char *body = write(rows, 1, &bare);
	ck_assert_ptr_nonnull(strstr(body, "\"externalURL\":\"\""));
	ck_assert_ptr_nonnull(strstr(body, "\"generatorURL\":\"\""));
	ck_assert_ptr_nonnull(
		strstr(body, "\"groupKey\":\"{}:{alertname=\\\"LapseOrderStuck\\\"}\""));
	ck_assert_ptr_null(strstr(body, "runbook_url"));
	ck_assert_ptr_null(strstr(body, "calls"));
	ck_assert_ptr_null(strstr(body, "task_id"));
	free(body);
}
END_TEST

START_TEST(what_a_row_says_is_data)
{
	struct alert_row row = make_row();
	const struct alert_row *const rows[] = { &row };

	(void)text_copy(row.description, sizeof(row.description), "\"},{\"x\":\"\xff\n<script>");
	char *body = write(rows, 1, &origin);
	ck_assert_ptr_nonnull(strstr(body, "\\\"},{\\\"x\\\":\\\"?\?<script>"));
	free(body);
}
END_TEST

START_TEST(a_message_sent_again_has_the_same_id)
{
	struct alert_row one = make_row();
	struct alert_row other = make_row();
	const struct alert_row *const rows[] = { &one, &other };
	char id[ALERT_BODY_ID_SIZE];
	char again[ALERT_BODY_ID_SIZE];

	other.id = 8;
	format_id(rows, 2, "ops", id);
	one.attempts = 5;
	format_id(rows, 2, "ops", again);
	ck_assert_str_eq(id, again);
	ck_assert_uint_eq(strlen(id), ALERT_BODY_ID_SIZE - 1);
	format_id(rows, 1, "ops", again);
	ck_assert_str_ne(id, again);
	format_id(rows, 2, "pager", again);
	ck_assert_str_ne(id, again);
	one.fired_count = 2;
	format_id(rows, 2, "ops", again);
	ck_assert_str_ne(id, again);
}
END_TEST

static struct alert_firing_list fires = { .items = { { .kind = ALERT_KIND_TASK_DEAD,
						  .severity = ALERT_SEVERITY_WARNING,
						  .task_kind = "stock_restore",
						  .summary = "x",
						  .fired_at = "2026-01-31T10:21:03.120Z",
						  .count = 47,
						  .examples = "A1, A2" } },
	.count = 1,
	.later = "2026-01-31T10:25:00.000Z" };

START_TEST(alertmanager_gets_one_alert_for_each_group)
{
	struct alert_row rows[3] = { make_row(), make_row(), make_row() };
	const struct alert_row *const list[] = { &rows[0], &rows[1], &rows[2] };
	const struct alert_news news = {
		.rows = list, .count = 3, .firing = &fires, .origin = &origin
	};

	/* The group of the first fires still; the others are one group, and over. */
	for (size_t i = 0; i < 3; i++) {
		rows[i].is_resolved = true;
		(void)text_copy(rows[i].resolved_at, sizeof(rows[i].resolved_at),
			"2026-01-31T10:22:00.000Z");
	}
	(void)text_copy(rows[1].task_kind, sizeof(rows[1].task_kind), "refund");
	(void)text_copy(rows[2].task_kind, sizeof(rows[2].task_kind), "refund");
	char *body = alert_body_write_groups(&news);
	ck_assert_str_eq(body,
		"[{\"labels\":{\"alertname\":\"LapseTaskDead\",\"kind\":\"stock_restore\","
		"\"severity\":\"warning\",\"service\":\"lapse\",\"env\":\"prod\"},"
		"\"annotations\":{\"summary\":\"47 tasks need a person\","
		"\"description\":\"A1, A2, and 37 more\","
		"\"runbook_url\":\"https://ops.example/runbooks#LapseTaskDead\"},"
		"\"startsAt\":\"2026-01-31T10:21:03.120Z\",\"endsAt\":\"2026-01-31T10:25:00.000Z\","
		"\"generatorURL\":\"https://ops.example/lapse/tasks?state=DEAD\"},"
		"{\"labels\":{\"alertname\":\"LapseTaskDead\",\"kind\":\"refund\","
		"\"severity\":\"warning\",\"service\":\"lapse\",\"env\":\"prod\"},"
		"\"annotations\":{\"summary\":\"stock_restore failed 6 times\","
		"\"runbook_url\":\"https://ops.example/runbooks#LapseTaskDead\"},"
		"\"startsAt\":\"2026-01-31T10:21:03.120Z\",\"endsAt\":\"2026-01-31T10:22:00.000Z\","
		"\"generatorURL\":\"https://ops.example/lapse/tasks?state=DEAD\"}]");
	free(body);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		alertmanager_gets_one_alert_for_each_group,
		one_alert_reads_as_the_document_shows,
		a_message_about_many_fires_while_one_of_them_does,
		without_a_console_there_are_no_links,
		what_a_row_says_is_data,
		a_message_sent_again_has_the_same_id,
	};

	return runner_run("alert_body", tests, ARRAY_LENGTH(tests));
}
