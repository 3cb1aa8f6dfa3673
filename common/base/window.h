/*
 * window - messages published and not yet confirmed, by confirm number.
 *
 * A ring indexed by number: numbers of one connection start at 1 and ascend by one.  Confirms come
 * in any order and may settle everything up to their number.
 */
#ifndef COMMON_BASE_WINDOW_H
#define COMMON_BASE_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct window;

void window_create(size_t capacity, struct window **window_out);
void window_destroy(struct window **window);

/* Forgets everything: a new connection starts with number 1. */
void window_reset(struct window *window);
size_t window_count(const struct window *window);
/* How many more may be added: numbers that are settled out of turn keep their places. */
size_t window_room(const struct window *window);
bool window_is_full(const struct window *window);
/* number must be the one after the last that was added (any at the start); REQUIREs a place. */
void window_add(struct window *window, uint64_t number, uint64_t value);
/*
 * A confirm: moves the values of number, or of all open numbers up to it, into values (room for
 * capacity) and returns how many.  Numbers that are not open give none.
 */
size_t window_settle(struct window *window, uint64_t number, bool is_multiple, uint64_t *values);

#endif
