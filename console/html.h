/*
 * html - writes a page: every text and every value of an attribute is escaped on its way in.
 *
 * There is no way to write markup that is not an element of this list of calls, so a text from a
 * row can never become one.  Names of elements and attributes are constants of the program.
 */
#ifndef CONSOLE_HTML_H
#define CONSOLE_HTML_H

#include <stddef.h>

#include "common/base/compiler.h"

struct html;

enum {
	HTML_DEPTH_MAX = 32
};

/* With the doctype. */
void html_create(struct html **html_out);
/* Ends what is open and gives the page to the caller; the writer is destroyed. */
MUST_USE char *html_finish(struct html **html, size_t *size_out);

/* What ends a list of attributes: a pointer on every machine. */
#define HTML_END ((const char *)NULL)

/* Behind tag: pairs of name and value, ended by HTML_END; an attribute whose value is NULL is left
 * out.  A value may be "" for those that have none. */
void html_open(struct html *html, const char *tag, ...) NULL_ENDED;
/* An element without content and end: input, meta, link, br. */
void html_void(struct html *html, const char *tag, ...) NULL_ENDED;
/* REQUIREs that tag is the one that was opened last. */
void html_close(struct html *html, const char *tag);

/* NULL is nothing. */
void html_text(struct html *html, const char *text);
void html_bytes(struct html *html, const char *bytes, size_t size);
void html_textf(struct html *html, const char *format, ...) PRINTF_LIKE(2, 3);
/* open, text, close; class may be NULL. */
void html_element(struct html *html, const char *tag, const char *class_name, const char *text);
void html_link(struct html *html, const char *address, const char *text);

#endif
