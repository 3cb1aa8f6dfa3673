#include "common/base/ulid.h"

#include <stddef.h>
#include <stdint.h>

#include "common/base/clock.h"
#include "common/base/random.h"

enum {
	TIME_CHARACTERS = 10,
	RANDOM_CHARACTERS = 16
};

void ulid_generate(char text_out[ULID_SIZE])
{
	static const char digits[] = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
	uint64_t time_ms = clock_epoch_ms();
	uint8_t random[RANDOM_CHARACTERS];

	random_bytes(random, sizeof(random));
	for (size_t i = 0; i < TIME_CHARACTERS; i++) {
		text_out[TIME_CHARACTERS - 1 - i] = digits[time_ms & 0x1F];
		time_ms >>= 5;
	}
	for (size_t i = 0; i < RANDOM_CHARACTERS; i++)
		text_out[TIME_CHARACTERS + i] = digits[random[i] & 0x1F];
	text_out[ULID_SIZE - 1] = '\0';
}
