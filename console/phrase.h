/*
 * phrase - the texts of the pages in both languages.
 *
 * The English text is the key.  A test reads the sources and makes sure that every PHRASE has its
 * other language, and that nothing is left over.
 */
#ifndef CONSOLE_PHRASE_H
#define CONSOLE_PHRASE_H

#include <stddef.h>

enum language {
	LANGUAGE_EN,
	LANGUAGE_ZH_CN,
};

/* The names of LAPSE_CONSOLE_LANG and of the HTML attribute, in the order of the enum. */
extern const char *const language_names[];

/* Marks an English text that has a place in the list. */
#define PHRASE(english) (english)

/* english when it has no other text. */
const char *phrase_in(enum language language, const char *english);
/* The text with "{1}" and "{2}" replaced; values may be NULL where the text has no such place. */
void phrase_fill(
	char *target, size_t target_size, const char *text, const char *first, const char *second);

struct phrase {
	const char *english;
	const char *chinese;
};

/* What pages say, and the names of what lists and records are made of. */
extern const struct phrase phrases[];
extern const size_t phrase_count;
extern const struct phrase phrase_names[];
extern const size_t phrase_name_count;

#endif
