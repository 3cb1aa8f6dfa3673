/*
 * doctor_schema - the part of doctor that looks at our tables: migrations, trigger, indexes.
 */
#ifndef CTL_DOCTOR_SCHEMA_H
#define CTL_DOCTOR_SCHEMA_H

#include <stdbool.h>

struct finding_list;
struct session;

/* Over a connection.  can_see_triggers: the user may, so what is not seen is not there. */
void doctor_check_schema(
	const struct session *session, bool can_see_triggers, struct finding_list *list);

#endif
