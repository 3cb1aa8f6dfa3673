#include "common/base/window.h"

#include <stdlib.h>

#include "common/base/memory.h"
#include "common/base/result.h"

struct slot {
	uint64_t value;
	bool is_open;
};

struct window {
	struct slot *slots;
	size_t capacity;
	uint64_t first; /* lowest number that may be open */
	uint64_t next;  /* number that comes next; first == next: nothing is open */
	size_t count;
};

void window_create(size_t capacity, struct window **window_out)
{
	struct window *window = memory_allocate(sizeof(*window));

	REQUIRE(capacity > 0);
	window->slots = memory_allocate_array(capacity, sizeof(*window->slots));
	window->capacity = capacity;
	*window_out = window;
}

void window_destroy(struct window **window)
{
	if (*window == NULL)
		return;
	free((*window)->slots);
	free(*window);
	*window = NULL;
}

void window_reset(struct window *window)
{
	for (size_t i = 0; i < window->capacity; i++)
		window->slots[i].is_open = false;
	window->first = 0;
	window->next = 0;
	window->count = 0;
}

size_t window_count(const struct window *window)
{
	return window->count;
}

size_t window_room(const struct window *window)
{
	return window->count == 0 ? window->capacity
				  : window->capacity - (size_t)(window->next - window->first);
}

bool window_is_full(const struct window *window)
{
	return window_room(window) == 0;
}

static struct slot *slot_of(struct window *window, uint64_t number)
{
	return &window->slots[number % window->capacity];
}

void window_add(struct window *window, uint64_t number, uint64_t value)
{
	if (window->count == 0)
		window->first = window->next = number;
	REQUIRE(number == window->next && !window_is_full(window));
	*slot_of(window, number) = (struct slot){ .value = value, .is_open = true };
	window->next++;
	window->count++;
}

static size_t take(struct window *window, uint64_t number, uint64_t *value)
{
	struct slot *slot = slot_of(window, number);

	if (!slot->is_open)
		return 0;
	slot->is_open = false;
	window->count--;
	*value = slot->value;
	return 1;
}

size_t window_settle(struct window *window, uint64_t number, bool is_multiple, uint64_t *values)
{
	size_t taken = 0;

	if (number < window->first || number >= window->next)
		return 0;
	for (uint64_t i = is_multiple ? window->first : number; i <= number; i++)
		taken += take(window, i, &values[taken]);
	while (window->first < window->next && !slot_of(window, window->first)->is_open)
		window->first++;
	return taken;
}
