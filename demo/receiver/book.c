#include "demo/receiver/book.h"

#include <stdlib.h>

#include "common/base/memory.h"

enum {
	FIRST_PLACES = 1024 /* a power of two */
};

struct book {
	struct book_record *records;
	size_t count;
	size_t room;
	size_t *places; /* open addressing: number of a record and one more; 0 is free */
	size_t place_count;
};

void book_create(struct book **book_out)
{
	struct book *book = memory_allocate(sizeof(*book));

	book->place_count = FIRST_PLACES;
	book->places = memory_allocate_array(FIRST_PLACES, sizeof(*book->places));
	*book_out = book;
}

void book_destroy(struct book **book)
{
	if (*book == NULL)
		return;
	for (size_t i = 0; i < (*book)->count; i++) {
		free((*book)->records[i].key);
		free((*book)->records[i].note);
	}
	free((*book)->records);
	free((*book)->places);
	free(*book);
	*book = NULL;
}

static uint64_t hash_text(const char *text)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a */

	for (; *text != '\0'; text++)
		hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
	return hash;
}

/* The place of a key, or the free one for it. */
static size_t *find_place(struct book *book, const char *key)
{
	size_t place = (size_t)hash_text(key) & (book->place_count - 1);

	while (book->places[place] != 0 &&
		!text_equals(book->records[book->places[place] - 1].key, key))
		place = (place + 1) & (book->place_count - 1);
	return &book->places[place];
}

/* At most half of the places are taken. */
static void make_room(struct book *book)
{
	if (book->count == book->room) {
		book->room = book->room == 0 ? FIRST_PLACES : 2 * book->room;
		book->records =
			memory_resize_array(book->records, book->room, sizeof(*book->records));
	}
	if (2 * (book->count + 1) <= book->place_count)
		return;
	free(book->places);
	book->place_count *= 2;
	book->places = memory_allocate_array(book->place_count, sizeof(*book->places));
	for (size_t i = 0; i < book->count; i++)
		*find_place(book, book->records[i].key) = i + 1;
}

enum book_outcome book_enter(struct book *book, const char *key, const char *order_no,
	const char *content, const char *note)
{
	size_t number = *find_place(book, key);
	uint64_t hash = hash_text(content);

	if (number != 0) {
		struct book_record *record = &book->records[number - 1];

		record->calls++;
		return record->content_hash == hash ? BOOK_OUTCOME_REPEATED : BOOK_OUTCOME_CHANGED;
	}
	if (book->count == BOOK_RECORD_MAX)
		return BOOK_OUTCOME_FULL;
	make_room(book);
	struct book_record *record = &book->records[book->count++];
	*record = (struct book_record){ .key = memory_copy_text(key),
		.note = memory_copy_text(note),
		.content_hash = hash,
		.calls = 1 };
	(void)text_copy(record->order_no, sizeof(record->order_no), order_no);
	*find_place(book, key) = book->count;
	return BOOK_OUTCOME_NEW;
}

size_t book_count(const struct book *book)
{
	return book->count;
}

const struct book_record *book_at(const struct book *book, size_t index)
{
	return &book->records[index];
}
