/*
 * export - a list as a file: CSV or JSON Lines, a page of rows at a time while it is sent.
 *
 * So that a large one needs no more memory than a small one, and others are answered in between.
 */
#ifndef CONSOLE_EXPORT_H
#define CONSOLE_EXPORT_H

struct visit;

enum {
	EXPORT_ROW_MAX = 10000
};

/* Handler of "/tasks/export" and its likes. */
void export_send(struct visit *visit);

#endif
