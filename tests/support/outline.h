/*
 * outline - a YAML document of the simple kind: mappings and lists by indentation, scalars on one
 * line, lists of scalars in brackets.
 */
#ifndef TESTS_SUPPORT_OUTLINE_H
#define TESTS_SUPPORT_OUTLINE_H

#include <stdbool.h>

/* A member of a mapping, or an item of a list. */
struct outline {
	char *key;             /* NULL: an item */
	char *value;           /* NULL: it has parts */
	struct outline *first; /* of its parts */
	struct outline *next;
	struct outline *made_before; /* for the end of all */
};

/* Fails the test when the file is not there or of another kind.  The root has parts only. */
void outline_read(const char *path, struct outline **root_out);
void outline_destroy(struct outline **root);

/* NULL when there is no such part; node may be NULL. */
const struct outline *outline_find(const struct outline *node, const char *key);
/* "" when there is none. */
const char *outline_text(const struct outline *node, const char *key);
/* Is there an item with this value among the parts? */
bool outline_has_item(const struct outline *node, const char *value);

#endif
