#include "common/base/random.h"

#include <sys/random.h>

#include "common/base/result.h"

void random_bytes(uint8_t *bytes, size_t size)
{
	size_t done = 0;

	while (done < size) {
		ssize_t got = getrandom(bytes + done, size - done, 0);

		/* Only EINTR can happen for a valid buffer. */
		if (got > 0)
			done += (size_t)got;
	}
}

uint64_t random_up_to(uint64_t limit)
{
	uint64_t value;

	random_bytes((uint8_t *)&value, sizeof(value));
	return limit == UINT64_MAX ? value : value % (limit + 1);
}
