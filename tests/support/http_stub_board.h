/*
 * http_stub_board - what the test and the process of the stub share: rules and facts.
 */
#ifndef TESTS_SUPPORT_HTTP_STUB_BOARD_H
#define TESTS_SUPPORT_HTTP_STUB_BOARD_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/support/http_stub.h"

enum {
	BOARD_RULES = 32,
	BOARD_PATHS = 8,
	BOARD_KEYS = 65536, /* a power of two */
	BOARD_BODIES = 64
};

struct board_rule {
	bool is_set;
	struct http_stub_rule rule; /* sku_id and text are the two below */
	char sku_id[HTTP_STUB_SKU_SIZE];
	char text[HTTP_STUB_TEXT_SIZE];
	uint32_t used;
};

struct board {
	pthread_mutex_t lock; /* guards everything but the two below */
	atomic_bool is_refusing;
	atomic_bool is_refused;
	struct board_rule rules[BOARD_RULES];
	char paths[BOARD_PATHS][HTTP_STUB_TEXT_SIZE];
	uint64_t seed;
	uint64_t calls;
	uint64_t in_flight;
	uint64_t max_in_flight;
	uint64_t strange;
	char last_strange[HTTP_STUB_TEXT_SIZE];
	uint64_t key_count;
	uint64_t bodies;
	char head[BOARD_BODIES][HTTP_STUB_HEAD_SIZE];
	char body[BOARD_BODIES][HTTP_STUB_BODY_SIZE];
	uint64_t body_times_ms[BOARD_BODIES];
	struct http_stub_key keys[BOARD_KEYS]; /* open addressing; key "" is free */
	uint64_t key_hashes[BOARD_KEYS];       /* of the content a key came with first */
};

/* The place of key, or a free one for it. */
size_t board_find_key(const struct board *board, const char *key);

/* One request as it came; not NUL-terminated. */
struct board_request {
	const char *head;
	size_t head_size;
	const char *body;
	size_t body_size;
};

/* What to do now. */
struct board_answer {
	enum http_stub_mode mode; /* OK: send text; HANG, TRICKLE, ENDLESS, CUT and ANSWER_LOST */
	uint64_t delay_ms;
	char *text; /* the whole answer, owned by the caller; NULL in some modes */
};

/* Judges a request by the rules and records it. */
void board_judge(
	struct board *board, const struct board_request *request, struct board_answer *answer_out);

struct stub_site {
	struct board *board;
	int listener;
	uint16_t port;
};
/* The loop of the stub's process; context is a struct stub_site. */
void stub_serve(void *context);

#endif
