/*
 * book - what has come, each key once: how often it came, and whether with the same content.
 *
 * In memory: a book begins empty and ends with the process.
 */
#ifndef DEMO_RECEIVER_BOOK_H
#define DEMO_RECEIVER_BOOK_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/text.h"

struct book;

enum {
	BOOK_RECORD_MAX = 1000000
};

enum book_outcome {
	BOOK_OUTCOME_NEW,
	BOOK_OUTCOME_REPEATED, /* the same key with the same content */
	BOOK_OUTCOME_CHANGED,  /* the same key with other content: nothing is done */
	BOOK_OUTCOME_FULL,
};

struct book_record {
	char *key;
	char *note; /* what the list shows of it */
	char order_no[TEXT_KEY_SIZE];
	uint64_t content_hash;
	uint64_t calls;
};

void book_create(struct book **book_out);
void book_destroy(struct book **book);

/* Copies the texts of a new record. */
enum book_outcome book_enter(struct book *book, const char *key, const char *order_no,
	const char *content, const char *note);
size_t book_count(const struct book *book);
/* In the order in which they came first. */
const struct book_record *book_at(const struct book *book, size_t index);

#endif
