#include <stdlib.h>
#include <string.h>

#include "common/base/text.h"
#include "common/io/json.h"
#include "ctl/doctor_policy.h"
#include "ctl/finding.h"
#include "tests/support/runner.h"

#define QUORUM(name, online, rest)                                                  \
	"{\"name\":\"" name "\",\"type\":\"quorum\",\"leader\":\"r1\",\"members\":" \
	"[\"r1\",\"r2\",\"r3\"],\"online\":" online ",\"policy\":\"all\""           \
	",\"effective_policy_definition\":" rest "}"
#define ALL "[\"r1\",\"r2\",\"r3\"]"

static bool fails(const char *text)
{
	struct finding_list *list = finding_list_create();
	struct json *queues = NULL;

	ck_assert_int_eq(json_parse(text, strlen(text), 65536, &queues, NULL), RESULT_OK);
	doctor_judge_queues(queues, "lapse", list);
	bool has_failed = finding_list_has_failed(list);
	json_destroy(&queues);
	finding_list_destroy(&list);
	return has_failed;
}

START_TEST(a_policy_that_takes_messages_away_fails)
{
	static const char *const traps[] = { "{\"message-ttl\":60000}", "{\"expires\":60000}",
		"{\"max-length\":1000}", "{\"max-length-bytes\":1000,\"overflow\":\"drop-head\"}",
		"{\"dead-letter-exchange\":\"x\"}" };
	char text[1024];

	for (size_t i = 0; i < ARRAY_LENGTH(traps); i++) {
		ck_assert(text_format(text, sizeof(text), "[%s%s}]",
			"{\"name\":\"lapse.timeout.due\",\"policy\":\"p\","
			"\"effective_policy_definition\":",
			traps[i]));
		ck_assert_msg(fails(text), "%s", traps[i]);
	}
}
END_TEST

START_TEST(a_policy_that_does_no_harm_and_queues_of_others_are_fine)
{
	ck_assert(!fails("[]"));
	ck_assert(!fails("[" QUORUM("lapse.timeout.due", ALL, "{}") "]"));
	ck_assert(!fails("[" QUORUM("lapse.timeout.due", ALL,
		"{\"max-length\":9,\"overflow\":\"reject-publish\"}") "]"));
	ck_assert(!fails("[" QUORUM("shop.mails", "[]", "{\"message-ttl\":1}") "]"));
	ck_assert(!fails("[" QUORUM("lapsed", "[]", "{\"message-ttl\":1}") "]"));
	ck_assert(!fails("[{\"name\":7},{\"name\":\"lapse.parked\",\"type\":\"classic\"}]"));
}
END_TEST

START_TEST(a_queue_without_a_majority_fails)
{
	ck_assert(!fails("[" QUORUM("lapse.timeout.due", "[\"r1\",\"r2\"]", "{}") "]"));
	ck_assert(fails("[" QUORUM("lapse.timeout.due", "[\"r1\"]", "{}") "]"));
	ck_assert(fails("[" QUORUM("lapse.timeout.due", "[]", "{}") "]"));
	ck_assert(fails("[{\"name\":\"lapse.timeout.due\",\"type\":\"quorum\",\"leader\":\"\","
			"\"members\":[\"r1\"],\"online\":[\"r1\"]}]"));
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		a_policy_that_takes_messages_away_fails,
		a_policy_that_does_no_harm_and_queues_of_others_are_fine,
		a_queue_without_a_majority_fails,
	};

	return runner_run("doctor_policy", tests, ARRAY_LENGTH(tests));
}
