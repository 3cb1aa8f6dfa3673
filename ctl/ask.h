/*
 * ask - one GET, waited for a few seconds at most.
 */
#ifndef CTL_ASK_H
#define CTL_ASK_H

#include <stddef.h>

enum {
	ASK_LIMIT_MS = 3000,
	ASK_WORDS_SIZE = 200,
};

struct ask_answer {
	long status;                /* of HTTP; 0: none came */
	char *body;                 /* never NULL until it is cleared */
	char words[ASK_WORDS_SIZE]; /* "HTTP 200", or why none came */
};

/* url is one for http_is_url.  answer_max in bytes; 0: 64 KiB.  Clear the answer. */
void ask(const char *url, size_t answer_max, struct ask_answer *answer_out);
void ask_clear(struct ask_answer *answer);

#endif
