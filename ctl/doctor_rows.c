#include "ctl/doctor_rows.h"

#include <stdint.h>

#include "common/base/text.h"
#include "common/base/ulid.h"
#include "common/io/db.h"
#include "ctl/finding.h"
#include "ctl/session.h"

enum {
	REF_SIZE = 64
};

/* A row that is written, updated to what it is, and taken back. */
static enum result count_same(
	const struct session *session, const char *ref, uint64_t *changed_out, struct error *error)
{
	static const char insert_sql[] =
		"INSERT INTO t_alert (kind, ref, severity, labels, annotations, state, "
		"delivery_state) VALUES ('THRESHOLD', ?, 'info', '{}', '{}', 'RESOLVED', 'SENT')";
	static const char update_sql[] = "UPDATE t_alert SET severity = 'info' "
					 "WHERE kind = 'THRESHOLD' AND ref = ?";
	const struct db_param param = db_text(ref);
	enum result result = db_begin(session->db, error);

	if (result == RESULT_OK)
		result = db_execute(session->db, insert_sql, &param, 1, NULL, error);
	if (result == RESULT_OK)
		result = db_execute(session->db, update_sql, &param, 1, changed_out, error);
	db_rollback(session->db);
	return result;
}

void doctor_check_changed_rows(const struct session *session, struct finding_list *list)
{
	char ref[REF_SIZE];
	char id[ULID_SIZE];
	struct error error = { .text = "" };
	uint64_t changed = 0;

	ulid_generate(id);
	(void)text_format(ref, sizeof(ref), "lapsectl.doctor.%s", id);
	enum result result = count_same(session, ref, &changed, &error);
	if (result != RESULT_OK)
		finding_warn(list, "changed_rows", "cannot be looked at: %s", error.text);
	else if (changed == 0)
		finding_ok(list, "changed_rows", "the server counts changed rows");
	else
		finding_fail(list, "changed_rows",
			"the server counts rows that were found and not those that were changed: "
			"something between us and it (a proxy?) sets CLIENT_FOUND_ROWS; turn that "
			"off, the guards of every program count rows");
}
