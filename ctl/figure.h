/*
 * figure - a list of named figures with their colour, printed for people, for scripts or as JSON.
 *
 * A figure that is not known is never shown as a number.  JSON: one object; "levels" names the
 * figures that are yellow or red, "level" is the worst of all.
 */
#ifndef CTL_FIGURE_H
#define CTL_FIGURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/compiler.h"
#include "ctl/output.h"

struct figure_list;

enum figure_level {
	FIGURE_LEVEL_GREEN,
	FIGURE_LEVEL_YELLOW, /* look at it some time */
	FIGURE_LEVEL_RED,    /* somebody must act */
};

MUST_USE struct figure_list *figure_list_create(void);
void figure_list_destroy(struct figure_list **list);

/* name is borrowed and constant: the key in JSON, with blanks for people. */
void figure_add_text(
	struct figure_list *list, const char *name, const char *text, enum figure_level level);
void figure_add_count(
	struct figure_list *list, const char *name, uint64_t count, enum figure_level level);
/* A time in milliseconds; its name ends in _ms. */
void figure_add_time(
	struct figure_list *list, const char *name, int64_t ms, enum figure_level level);
/* Cannot tell; why is copied. */
void figure_add_unknown(
	struct figure_list *list, const char *name, const char *why, enum figure_level level);

bool figure_list_has_red(const struct figure_list *list);
void figure_list_print(const struct figure_list *list, const struct output *output);

#endif
