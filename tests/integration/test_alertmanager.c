/* A real Alertmanager on loopback takes what lapse-retry tells it, and forgets what is over. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/text.h"
#include "tests/support/http_client.h"
#include "tests/support/http_stub.h"
#include "tests/support/process.h"
#include "tests/support/query.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"
#include "tests/support/scratch.h"
#include "tests/support/tasks.h"
#include "tests/support/wait_until.h"

enum {
	WORD_SIZE = 64
};

#define PROGRAM "/usr/bin/prometheus-alertmanager"

static struct sandbox *sandbox;
static struct query *query;
static struct process *alertmanager;
static uint16_t port;

static bool does_answer(void *context)
{
	(void)context;
	return http_client_get(port, "/-/ready", 1000, NULL) == 200;
}

/* Without a cluster, and with a receiver that tells nobody. */
static void start_alertmanager(void)
{
	char config[PATH_MAX];
	char config_word[PATH_MAX + WORD_SIZE];
	char storage_word[PATH_MAX + WORD_SIZE];
	char address_word[WORD_SIZE];
	const char *const words[] = { config_word, storage_word, address_word,
		"--cluster.listen-address=", NULL };
	char *const environment[] = { NULL };

	port = sandbox_free_port();
	scratch_write("alertmanager.yml",
		"route:\n  receiver: nobody\nreceivers:\n  - name: nobody\n", config);
	(void)text_format(config_word, sizeof(config_word), "--config.file=%s", config);
	(void)text_format(storage_word, sizeof(storage_word), "--storage.path=%s/alertmanager",
		scratch_folder());
	(void)text_format(address_word, sizeof(address_word), "--web.listen-address=127.0.0.1:%u",
		(unsigned int)port);
	process_start(&(struct process_plan){ .program = PROGRAM,
			      .arguments = words,
			      .environment = environment,
			      .folder = scratch_folder() },
		&alertmanager);
	WAIT_UNTIL(does_answer, NULL);
}

static void set_up(void)
{
	sandbox_create(SANDBOX_NO_BROKER, &sandbox);
	query = sandbox_query(sandbox);
	http_stub_set_rule(sandbox_stub(sandbox),
		&(struct http_stub_rule){
			.sku_id = "SKU-410", .mode = HTTP_STUB_STATUS, .status = 410 });
	start_alertmanager();
	sandbox_set(sandbox, "LAPSE_RETRY_INTERVAL", "20ms");
	sandbox_set(sandbox, "LAPSE_ALERT_GROUP_WAIT", "300ms");
	sandbox_set(sandbox, "LAPSE_ENV_LABEL", "prod");
	sandbox_set(sandbox, "LAPSE_ALERT_TARGETS", "am");
	sandbox_set(sandbox, "LAPSE_ALERT_AM_TYPE", "alertmanager");
	sandbox_set(sandbox, "LAPSE_ALERT_AM_URL", "http://127.0.0.1:%u", (unsigned int)port);
}

static void tear_down(void)
{
	process_destroy(&alertmanager);
	sandbox_destroy(&sandbox);
}

/* Does the list of what fires there hold the text? */
static bool does_list(const char *text)
{
	static char answer[HTTP_CLIENT_SIZE];

	return http_client_get(port, "/api/v2/alerts", 5000, answer) == 200 &&
	       strstr(answer, text) != NULL;
}

static bool does_fire(void *text)
{
	return does_list(text);
}

static bool is_over(void *text)
{
	return !does_list(text);
}

static bool are_sent(void *context)
{
	return query_number(query, "SELECT COUNT(*) FROM t_alert WHERE delivery_state = 'SENT'") ==
	       *(const int64_t *)context;
}

START_TEST(it_has_one_alert_for_each_group_until_all_of_it_is_over)
{
	static char tasks_fire[] = "\"kind\":\"stock_restore\",\"service\":\"lapse\"";
	static char rule_fires[] = "\"alertname\":\"LapseOverdue\"";
	int64_t count = 4;

	tasks_insert(query, &(struct tasks_plan){ .prefix = "D", .sku = "SKU-410", .count = 3 });
	query_run(query,
		"INSERT INTO t_alert (kind, ref, severity, labels, annotations) VALUES "
		"('THRESHOLD', 'LapseOverdue', 'critical', '{}', '{\"summary\":\"late\"}')");
	(void)sandbox_start(sandbox, "lapse-retry", NULL);
	WAIT_UNTIL(does_fire, tasks_fire);
	WAIT_UNTIL(does_fire, rule_fires);
	WAIT_UNTIL(are_sent, &count);
	ck_assert(does_list("\"summary\":\"3 tasks need a person\""));
	ck_assert(does_list("\"severity\":\"critical\""));
	/* Two of three are well again: the group still fires. */
	query_run(query,
		"UPDATE t_alert SET state = 'RESOLVED', resolved_at = UTC_TIMESTAMP(3), "
		"delivery_state = 'PENDING', attempts = 0, "
		"next_attempt_at = UTC_TIMESTAMP(3) WHERE ref IN ('1', '2', 'LapseOverdue')");
	WAIT_UNTIL(is_over, rule_fires);
	WAIT_UNTIL(are_sent, &count);
	ck_assert(does_list("\"summary\":\"1 task needs a person\""));
	query_run(query, "UPDATE t_alert SET state = 'RESOLVED', resolved_at = UTC_TIMESTAMP(3), "
			 "delivery_state = 'PENDING', attempts = 0, "
			 "next_attempt_at = UTC_TIMESTAMP(3) WHERE ref = '3'");
	WAIT_UNTIL(is_over, tasks_fire);
}
END_TEST

START_TEST(it_takes_a_test_message)
{
	const char *const words[] = { "alert", "test", "--target", "am", NULL };
	static char test_fires[] = "\"alertname\":\"LapseTest\"";
	char *output = NULL;

	ck_assert_int_eq(sandbox_run(sandbox, "lapsectl", words, &output), 0);
	free(output);
	WAIT_UNTIL(does_fire, test_fires);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		it_has_one_alert_for_each_group_until_all_of_it_is_over,
		it_takes_a_test_message,
	};
	const struct runner_fixture fixture = { set_up, tear_down };

	sandbox_need_servers();
	if (access(PROGRAM, X_OK) != 0) {
		(void)printf("skipped: there is no %s, see scripts/setup\n", PROGRAM);
		return RUNNER_SKIPPED;
	}
	return runner_run_with("alertmanager", &fixture, tests, ARRAY_LENGTH(tests));
}
