/*
 * proxy - a line to a server that a test can cut, freeze, slow or refuse, in a process of its own.
 *
 * What holds for lines holds for all at once: those that are there and those that come.
 */
#ifndef TESTS_SUPPORT_PROXY_H
#define TESTS_SUPPORT_PROXY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct proxy;

enum {
	PROXY_TEXT_SIZE = 64
};

/* In front of a loopback port. */
void proxy_create(uint16_t server_port, struct proxy **proxy_out);
void proxy_destroy(struct proxy **proxy);
uint16_t proxy_port(const struct proxy *proxy);

/* Resets every line once; returns when it is done. */
void proxy_cut(struct proxy *proxy);
/* Resets every line and refuses new ones while it is on. */
void proxy_refuse(struct proxy *proxy, bool is_on);
/* Nothing gets through in either direction while it is on; lines stay open. */
void proxy_freeze(struct proxy *proxy, bool is_on);
/* Each answer of the server is held so long; 0: not at all. */
void proxy_slow(struct proxy *proxy, uint64_t delay_ms);

enum proxy_place {
	PROXY_BEFORE, /* the server never sees the text */
	PROXY_AFTER,  /* the server acts on it, and its answer is lost */
};
/* A commit as MySQL's protocol says it, unlike the READ COMMITTED of every new session. */
#define PROXY_COMMIT "\003COMMIT"
/* The next count lines that carry the text to the server are reset there; count 0: no more. */
void proxy_cut_at(struct proxy *proxy, const char *text, enum proxy_place place, uint32_t count);
/* The line that carries the byte behind so many more to the server is reset there; 0: never. */
void proxy_cut_after(struct proxy *proxy, uint64_t bytes);

uint64_t proxy_count_cuts(const struct proxy *proxy);
uint64_t proxy_count_lines(const struct proxy *proxy); /* ever opened */

#endif
