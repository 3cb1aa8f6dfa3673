/*
 * good_pairs - names and passwords that were right lately, so that crypt(3) is not asked for each
 * request.  Only a keyed digest of them is kept.
 */
#ifndef CONSOLE_GOOD_PAIRS_H
#define CONSOLE_GOOD_PAIRS_H

#include <stdbool.h>

struct good_pairs;

enum {
	GOOD_PAIRS_AGE_MS = 300000
};

void good_pairs_create(struct good_pairs **pairs_out);
void good_pairs_destroy(struct good_pairs **pairs);

bool good_pairs_has(const struct good_pairs *pairs, const char *name, const char *password);
void good_pairs_add(struct good_pairs *pairs, const char *name, const char *password);
void good_pairs_forget(struct good_pairs *pairs);

#endif
