#include "console/attempts.h"

#include <stdlib.h>

#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/base/text.h"
#include "console/role.h"

enum {
	PLACES = 1024
};

struct place {
	char address[ROLE_ADDRESS_SIZE];
	uint64_t at_ms[ATTEMPTS_MAX]; /* a ring */
	uint32_t next;
	uint32_t count;
	uint64_t last_ms;
};

struct attempts {
	struct place places[PLACES];
};

void attempts_create(struct attempts **attempts_out)
{
	*attempts_out = memory_allocate(sizeof(**attempts_out));
}

void attempts_destroy(struct attempts **attempts)
{
	free(*attempts);
	*attempts = NULL;
}

static const struct place *find(const struct attempts *attempts, const char *address)
{
	for (size_t i = 0; i < PLACES; i++)
		if (text_equals(attempts->places[i].address, address))
			return &attempts->places[i];
	return NULL;
}

/* Where the ring is full, the next place holds the oldest attempt. */
uint64_t attempts_wait_ms(const struct attempts *attempts, const char *address)
{
	const struct place *place = find(attempts, address);
	uint64_t now_ms = clock_now_ms();

	if (place == NULL || place->count < ATTEMPTS_MAX)
		return 0;
	uint64_t free_ms = place->at_ms[place->next] + ATTEMPTS_WINDOW_MS;
	return free_ms > now_ms ? free_ms - now_ms : 0;
}

static struct place *find_or_take(struct attempts *attempts, const char *address)
{
	struct place *quietest = &attempts->places[0];

	for (size_t i = 0; i < PLACES; i++) {
		struct place *place = &attempts->places[i];

		if (text_equals(place->address, address))
			return place;
		if (place->last_ms < quietest->last_ms)
			quietest = place;
	}
	*quietest = (struct place){ .count = 0 };
	(void)text_copy(quietest->address, sizeof(quietest->address), address);
	return quietest;
}

void attempts_add(struct attempts *attempts, const char *address)
{
	struct place *place = find_or_take(attempts, address);

	place->last_ms = clock_now_ms();
	place->at_ms[place->next] = place->last_ms;
	place->next = (place->next + 1) % ATTEMPTS_MAX;
	if (place->count < ATTEMPTS_MAX)
		place->count++;
}
