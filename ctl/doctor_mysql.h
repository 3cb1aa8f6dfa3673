/*
 * doctor_mysql - the part of doctor that looks at the database.
 */
#ifndef CTL_DOCTOR_MYSQL_H
#define CTL_DOCTOR_MYSQL_H

struct finding_list;
struct session;

void doctor_check_mysql(const struct session *session, struct finding_list *list);

#endif
