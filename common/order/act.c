#include "common/order/act.h"

#include <string.h>

#include "common/base/text.h"

enum {
	TARGET_SIZE = 128 + 1
};

const char *const act_outcome_names[] = { "done", "invalid", "forbidden", "not_found", "conflict",
	"refused", "failed", NULL };
const char *const act_role_names[] = { "viewer", "operator", "admin", NULL };

_Static_assert(ARRAY_LENGTH(act_outcome_names) == ACT_OUTCOME_COUNT + 1, "one name per outcome");
_Static_assert(ARRAY_LENGTH(act_role_names) == ACT_ROLE_ADMIN + 2, "one name per role");

/* What is not named here is for admins. */
static const char *const for_operators[] = { "requeue", "resolve", "cancel", "extend", "replay",
	"silence", "resend", "export" };

enum act_role act_role_needed(const char *action)
{
	for (size_t i = 0; i < ARRAY_LENGTH(for_operators); i++)
		if (text_equals(for_operators[i], action))
			return ACT_ROLE_OPERATOR;
	return ACT_ROLE_ADMIN;
}

bool act_has_role(const struct audit_actor *actor, enum act_role role)
{
	return text_is_one_of(act_role_names + role, actor->role);
}

bool act_is_reason(const char *text)
{
	size_t count = 0;

	for (; text != NULL && *text != '\0'; text++)
		count += ((unsigned char)*text & 0xC0U) != 0x80U;
	return count >= ACT_REASON_MIN && count <= ACT_REASON_MAX;
}

static const char *find_result_word(enum act_outcome outcome)
{
	switch (outcome) {
	case ACT_OUTCOME_DONE:
		return "ok";
	case ACT_OUTCOME_INVALID:
	case ACT_OUTCOME_FORBIDDEN:
	case ACT_OUTCOME_NOT_FOUND:
	case ACT_OUTCOME_REFUSED:
		return "refused";
	case ACT_OUTCOME_CONFLICT:
		return "conflict";
	case ACT_OUTCOME_FAILED:
		return "error";
	}
	return "error";
}

/* The column is ASCII, and a name that was typed at a log-in may be anything. */
static void clean_target(char target[TARGET_SIZE], const char *source)
{
	size_t size = 0;

	for (; size < TARGET_SIZE - 1 && source[size] != '\0'; size++) {
		bool is_printable = source[size] >= ' ' && source[size] <= '~';
		const char *taken = is_printable ? &source[size] : "?";

		target[size] = *taken;
	}
	target[size] = '\0';
}

enum result act_write_note(struct db *db, const struct act_note *note,
	const struct audit_actor *actor, struct error *error)
{
	char target[TARGET_SIZE];
	const struct audit_act act = { .action = note->action,
		.target_type = note->target_type,
		.target_id = target,
		.result = find_result_word(note->outcome),
		.error = note->words };

	clean_target(target, note->target_id);
	return audit_record(db, actor, &act, error);
}
