/*
 * doctor_rows - whether the server counts changed rows, on which every guard relies.
 */
#ifndef CTL_DOCTOR_ROWS_H
#define CTL_DOCTOR_ROWS_H

struct finding_list;
struct session;

/* The schema is there.  What is written is taken back. */
void doctor_check_changed_rows(const struct session *session, struct finding_list *list);

#endif
