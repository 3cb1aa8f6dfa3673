#include "ctl/answer.h"

#include <inttypes.h>

#include "ctl/session.h"

int answer_status(enum act_outcome outcome)
{
	switch (outcome) {
	case ACT_OUTCOME_DONE:
		return EXIT_STATUS_OK;
	case ACT_OUTCOME_INVALID:
		return EXIT_STATUS_USAGE;
	case ACT_OUTCOME_FORBIDDEN:
		return EXIT_STATUS_NO_PERMISSION;
	case ACT_OUTCOME_NOT_FOUND:
		return EXIT_STATUS_NOT_FOUND;
	case ACT_OUTCOME_CONFLICT:
		return EXIT_STATUS_CONFLICT;
	case ACT_OUTCOME_REFUSED:
		return EXIT_STATUS_REFUSED;
	case ACT_OUTCOME_FAILED:
		return EXIT_STATUS_FAILED;
	}
	return EXIT_STATUS_FAILED;
}

int answer_find_worse(int left, int right)
{
	static const int ascending[] = { EXIT_STATUS_OK, EXIT_STATUS_NOT_FOUND,
		EXIT_STATUS_CONFLICT, EXIT_STATUS_REFUSED, EXIT_STATUS_NO_PERMISSION,
		EXIT_STATUS_USAGE, EXIT_STATUS_FAILED, EXIT_STATUS_TRY_AGAIN };
	int worse = EXIT_STATUS_OK;

	for (size_t i = 0; i < ARRAY_LENGTH(ascending); i++)
		if (ascending[i] == left || ascending[i] == right)
			worse = ascending[i];
	return worse;
}

int answer_tell(const struct session *session, const struct act_result *result, const char *done)
{
	if (result->outcome != ACT_OUTCOME_DONE)
		output_complain("%s", result->words);
	else if (result->audit_id == 0)
		output_say(&session->output, "%s", done);
	else
		output_say(&session->output, "%s (audit %" PRIu64 ")", done, result->audit_id);
	return answer_status(result->outcome);
}
