#include "demo/shop/payments.h"

#include <stdlib.h>

#include "common/base/memory.h"

struct payment {
	uint64_t at_ms;
	char order_no[TEXT_KEY_SIZE];
};

/* A binary heap: no payment is due before the one at half its place. */
struct payments {
	struct payment *heap;
	size_t count;
	size_t room;
};

void payments_create(struct payments **payments_out)
{
	*payments_out = memory_allocate(sizeof(**payments_out));
}

void payments_destroy(struct payments **payments)
{
	if (*payments == NULL)
		return;
	free((*payments)->heap);
	free(*payments);
	*payments = NULL;
}

size_t payments_count(const struct payments *payments)
{
	return payments->count;
}

uint64_t payments_next_ms(const struct payments *payments)
{
	return payments->count == 0 ? UINT64_MAX : payments->heap[0].at_ms;
}

static void swap(struct payments *payments, size_t left, size_t right)
{
	struct payment kept = payments->heap[left];

	payments->heap[left] = payments->heap[right];
	payments->heap[right] = kept;
}

void payments_add(struct payments *payments, const char *order_no, uint64_t at_ms)
{
	size_t place = payments->count++;

	if (payments->count > payments->room) {
		payments->room = 2 * payments->count;
		payments->heap = memory_resize_array(
			payments->heap, payments->room, sizeof(*payments->heap));
	}
	payments->heap[place].at_ms = at_ms;
	(void)text_copy(
		payments->heap[place].order_no, sizeof(payments->heap[place].order_no), order_no);
	while (place > 0 && payments->heap[(place - 1) / 2].at_ms > at_ms) {
		swap(payments, place, (place - 1) / 2);
		place = (place - 1) / 2;
	}
}

/* The earliest of a place and the two below it. */
static size_t find_earliest(const struct payments *payments, size_t place)
{
	size_t earliest = place;

	for (size_t below = 2 * place + 1; below <= 2 * place + 2; below++)
		if (below < payments->count &&
			payments->heap[below].at_ms < payments->heap[earliest].at_ms)
			earliest = below;
	return earliest;
}

bool payments_take_due(struct payments *payments, uint64_t now_ms, char order_no[TEXT_KEY_SIZE])
{
	if (payments_next_ms(payments) > now_ms)
		return false;
	(void)text_copy(order_no, TEXT_KEY_SIZE, payments->heap[0].order_no);
	payments->heap[0] = payments->heap[--payments->count];
	size_t place = 0;
	for (size_t next = find_earliest(payments, 0); next != place;
		next = find_earliest(payments, place)) {
		swap(payments, place, next);
		place = next;
	}
	return true;
}
