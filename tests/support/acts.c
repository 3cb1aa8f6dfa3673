#include "tests/support/acts.h"

#include <string.h>

#include <check.h>

struct audit_actor acts_actor(const char *role, const char *request_id)
{
	return (struct audit_actor){
		.actor = "maria", .role = role, .auth = "basic", .request_id = request_id
	};
}

void acts_expect(const struct act_result *result, enum act_outcome outcome, const char *says)
{
	ck_assert_msg(result->outcome == outcome, "%s: %s", act_outcome_names[result->outcome],
		result->words);
	ck_assert_msg(strstr(result->words, says) != NULL, "%s", result->words);
	ck_assert_int_eq(result->audit_id != 0,
		outcome != ACT_OUTCOME_INVALID && outcome != ACT_OUTCOME_NOT_FOUND);
}
