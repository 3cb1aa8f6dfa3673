/*
 * page - the frame of every page: head, name of the installation, navigation, warnings; and the
 * pieces that pages are made of.
 */
#ifndef CONSOLE_PAGE_H
#define CONSOLE_PAGE_H

#include <stddef.h>
#include <stdint.h>

#include "console/html.h"
#include "console/visit.h"

/* Everything up to the heading; title is a PHRASE. */
struct html *page_begin(struct visit *visit, const char *title);
/* The rest, and the answer. */
void page_end(struct visit *visit, unsigned int status, struct html **html);

/* A text of ours in the language of the console. */
void page_say(const struct visit *visit, struct html *html, const char *english);
/* With "{1}" and "{2}" replaced. */
void page_fill(const struct visit *visit, struct html *html, const char *english, const char *first,
	const char *second);
void page_element(const struct visit *visit, struct html *html, const char *tag,
	const char *class_name, const char *english);
/* The name of a column or filter for people: "order_no" reads "order no" where it has no text. */
void page_name(const struct visit *visit, struct html *html, const char *name);
/* A link to a path of ours, which is encoded already; english or a text as it is. */
void page_link(const struct visit *visit, struct html *html, const char *path, const char *text);
/* "/tasks/" and a name as one part of the path. */
void page_link_to(const struct visit *visit, struct html *html, const char *folder,
	const char *name, const char *text);

/* <time> with "3 min ago" behind it, of ISO 8601 with Z; "" or NULL: a dash. */
void page_time(const struct visit *visit, struct html *html, const char *time);

/* The head of a table: a column each, names as they are looked up in the language. */
void page_table_head(
	const struct visit *visit, struct html *html, const char *const *names, size_t count);

/* One of the three empty states: "clear", "none" or "unknown" as class; words as they are. */
void page_empty(struct html *html, const char *class_name, const char *words, const char *proof);

/* <form method=post> with its token and a fresh request id; closed by page_form_end. */
void page_form(const struct visit *visit, struct html *html, const char *path);
void page_form_end(
	const struct visit *visit, struct html *html, const char *class_name, const char *english);
void page_hidden(struct html *html, const char *name, const char *value);
/* A labelled field; english may be the name of a column; hint may be NULL. */
void page_field(const struct visit *visit, struct html *html, const char *name, const char *english,
	const char *value, const char *hint);
void page_choice(const struct visit *visit, struct html *html, const char *name,
	const char *english, const char *const *words, const char *chosen);

#endif
