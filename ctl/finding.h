/*
 * finding - what doctor has found: one line each, with what to do about it.
 */
#ifndef CTL_FINDING_H
#define CTL_FINDING_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/compiler.h"
#include "ctl/output.h"

struct finding_list;

MUST_USE struct finding_list *finding_list_create(void);
void finding_list_destroy(struct finding_list **list);

/* name is borrowed and constant.  ok: how it is; warn, fail: how it is and what to do. */
void finding_ok(struct finding_list *list, const char *name, const char *format, ...)
	PRINTF_LIKE(3, 4);
void finding_warn(struct finding_list *list, const char *name, const char *format, ...)
	PRINTF_LIKE(3, 4);
void finding_fail(struct finding_list *list, const char *name, const char *format, ...)
	PRINTF_LIKE(3, 4);

bool finding_list_has_failed(const struct finding_list *list);
bool finding_list_has_warned(const struct finding_list *list);
void finding_list_print(const struct finding_list *list, const struct output *output);

#endif
