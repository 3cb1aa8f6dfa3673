/*
 * question - asks on a terminal before something is changed.
 */
#ifndef CTL_QUESTION_H
#define CTL_QUESTION_H

#include <stdbool.h>

#include "common/base/compiler.h"
#include "ctl/option.h"

/* Is there a person to ask?  Not with --no-input, nor when input or words are no terminal. */
bool question_can_ask(const struct option_set *options);
/* Asks, and says whether the answer was expected, for example "yes" or a number. */
bool question_ask(const char *expected, const char *format, ...) PRINTF_LIKE(2, 3);

#endif
