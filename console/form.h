/*
 * form - the fields of a form, or of a flat JSON object, as names and texts.
 *
 * A name may stand there more than once.  What is too much, or is no form, is refused as a whole.
 */
#ifndef CONSOLE_FORM_H
#define CONSOLE_FORM_H

#include <stddef.h>

#include "common/base/result.h"

struct form;

enum {
	FORM_FIELD_MAX = 300
};

/* "a=b&c=d"; a value with a NUL byte is refused.  PERMANENT with words. */
MUST_USE enum result form_read(
	const char *body, size_t size, struct form **form_out, struct error *error);
/* An object of texts, numbers and lists of them: {"ids":["1","2"],"reason":"..."}. */
MUST_USE enum result form_read_json(
	const char *body, size_t size, struct form **form_out, struct error *error);
void form_create(struct form **form_out);
void form_destroy(struct form **form);
/* What has no place any more is left out: the head of a request holds fewer names than that. */
void form_add(struct form *form, const char *name, const char *value);

/* The first value of a name; NULL: it is not there.  Borrowed. */
const char *form_get(const struct form *form, const char *name);
/* The same, but "" when it is not there. */
const char *form_text(const struct form *form, const char *name);
/* The value at place (from 0) among those of this name; NULL: there are not so many. */
const char *form_get_at(const struct form *form, const char *name, size_t place);
size_t form_count(const struct form *form);
const char *form_name_at(const struct form *form, size_t place);
const char *form_value_at(const struct form *form, size_t place);

#endif
