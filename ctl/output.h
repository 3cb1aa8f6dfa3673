/*
 * output - what lapsectl writes: data to standard output, words to standard error.
 */
#ifndef CTL_OUTPUT_H
#define CTL_OUTPUT_H

#include <stdbool.h>

#include "common/base/compiler.h"

enum output_form {
	OUTPUT_FORM_TEXT,  /* for people: aligned columns */
	OUTPUT_FORM_PLAIN, /* for scripts: tabs between values, no heading */
	OUTPUT_FORM_JSON,  /* one document */
};

enum output_color {
	OUTPUT_COLOR_GREEN,
	OUTPUT_COLOR_YELLOW,
	OUTPUT_COLOR_RED,
};

struct output {
	enum output_form form;
	bool is_quiet;
	bool is_verbose;
	bool has_color;    /* standard output takes colours */
	bool has_terminal; /* standard error is a terminal: progress may rewrite its line */
};

/* One line to standard error; say: unless quiet; detail: only when verbose; complain: always. */
void output_say(const struct output *output, const char *format, ...) PRINTF_LIKE(2, 3);
void output_detail(const struct output *output, const char *format, ...) PRINTF_LIKE(2, 3);
void output_complain(const char *format, ...) PRINTF_LIKE(1, 2);
/* A line that the next one replaces; only on a terminal and unless quiet. */
void output_progress(const struct output *output, const char *format, ...) PRINTF_LIKE(2, 3);
/* Takes the last progress line away. */
void output_end_progress(const struct output *output);

/* Escape sequences around a word on standard output; "" without colours. */
const char *output_color(const struct output *output, enum output_color color);
const char *output_no_color(const struct output *output);

#endif
