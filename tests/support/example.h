/*
 * example - a JSON file of tests/data/, which the documents show: as compact text.
 */
#ifndef TESTS_SUPPORT_EXAMPLE_H
#define TESTS_SUPPORT_EXAMPLE_H

#include "common/base/compiler.h"

/* Owned by the caller.  Fails the test when there is no such file or it is no JSON. */
MUST_USE char *example_read(const char *name);
/* Fails the test when text, written by the code under test, is not the example. */
void example_expect(const char *name, const char *text);

#endif
