/*
 * doctor_grants - whether each MySQL user of Lapse may do its work and nothing else.
 */
#ifndef CTL_DOCTOR_GRANTS_H
#define CTL_DOCTOR_GRANTS_H

struct finding_list;
struct session;

/* Over a connection.  Compares with grant_table whom the server shows: this user, and with SELECT
 * on mysql.* all. */
void doctor_check_grants(const struct session *session, struct finding_list *list);

#endif
