/* act: several people, or one who clicks twice, at the same moment. */
#include <string.h>
#include <sys/wait.h>

#include "common/base/compiler.h"
#include "common/base/text.h"
#include "common/order/act_task.h"
#include "tests/support/claims.h"
#include "tests/support/query.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"
#include "tests/support/shared.h"

enum {
	PEOPLE = 4,
	ROUNDS = 10,
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

/* What one person does, in a process and over a connection of its own. */
struct person {
	const char *url;
	char request_id[24];
	uint64_t task_id;
	enum result result;
	struct act_result answer;
};

static void click(void *context)
{
	struct person *person = context;
	const struct audit_actor actor = { .actor = "maria",
		.role = "operator",
		.auth = "basic",
		.request_id = person->request_id };
	const struct act_task task = { person->task_id, 5 };
	struct claims_db ours;
	struct error error = { .text = "" };

	claims_connect(person->url, &ours);
	person->result = act_requeue(ours.db, &task, 0, &actor, &person->answer, &error);
	claims_disconnect(&ours);
}

/* All at once; same_request: it is one person whose browser sends the form again and again. */
static void click_together(struct person *people, uint64_t task_id, bool is_same_request)
{
	pid_t children[PEOPLE];

	for (int i = 0; i < PEOPLE; i++) {
		memset(&people[i], 0, sizeof(people[i]));
		people[i].url = sandbox_mysql_url(sandbox);
		people[i].task_id = task_id;
		(void)text_format(people[i].request_id, sizeof(people[i].request_id), "r%u-%d",
			(unsigned int)task_id, is_same_request ? 0 : i);
		children[i] = shared_fork(click, &people[i]);
	}
	for (int i = 0; i < PEOPLE; i++)
		(void)waitpid(children[i], NULL, 0);
}

static size_t count(const struct person *people, enum act_outcome outcome)
{
	size_t number = 0;

	for (int i = 0; i < PEOPLE; i++) {
		ck_assert_int_eq(people[i].result, RESULT_OK);
		number += people[i].answer.outcome == outcome;
	}
	return number;
}

static void insert_dead(void)
{
	query_run(query, "INSERT INTO t_compensation (id, kind, target, idempotency_key, order_no, "
			 "payload, status, calls, retry_count) SELECT seq, 'STOCK_RESTORE', "
			 "'stock', CONCAT('k', seq), 'A1', '{}', 'DEAD', 6, 5 FROM seq_1_to_20");
}

START_TEST(of_many_at_once_one_acts_and_the_others_are_told)
{
	struct person *people = shared_create(PEOPLE * sizeof(*people));

	insert_dead();
	for (uint64_t id = 1; id <= ROUNDS; id++) {
		click_together(people, id, false);
		ck_assert_uint_eq(count(people, ACT_OUTCOME_DONE), 1);
		ck_assert_uint_eq(count(people, ACT_OUTCOME_CONFLICT), PEOPLE - 1);
	}
	query_expect(query, "10 10",
		"SELECT COUNT(*), MAX(max_retries) FROM t_compensation "
		"WHERE status = 'PENDING'");
	query_expect(query, "10 30",
		"SELECT SUM(result = 'ok'), SUM(result = 'conflict') "
		"FROM t_operator_audit");
	shared_destroy(people, PEOPLE * sizeof(*people));
}
END_TEST

START_TEST(one_request_that_comes_many_times_at_once_acts_once)
{
	struct person *people = shared_create(PEOPLE * sizeof(*people));

	insert_dead();
	for (uint64_t id = 1; id <= ROUNDS; id++) {
		click_together(people, id, true);
		ck_assert_uint_eq(count(people, ACT_OUTCOME_DONE), PEOPLE);
		for (int i = 1; i < PEOPLE; i++)
			ck_assert_uint_eq(people[0].answer.audit_id, people[i].answer.audit_id);
	}
	query_expect(query, "10 10",
		"SELECT COUNT(*), MAX(max_retries) FROM t_compensation "
		"WHERE status = 'PENDING'");
	query_expect(query, "10", "SELECT COUNT(*) FROM t_operator_audit");
	shared_destroy(people, PEOPLE * sizeof(*people));
}
END_TEST

int main(void)
{
	static const struct runner_fixture fixture = { set_up, tear_down };
	const TTest *const tests[] = {
		of_many_at_once_one_acts_and_the_others_are_told,
		one_request_that_comes_many_times_at_once_acts_once,
	};

	sandbox_need_servers();
	return runner_run_with("act_race", &fixture, tests, ARRAY_LENGTH(tests));
}
