/*
 * random - random numbers for jitter, tokens and ids; seeded once from the system.
 */
#ifndef COMMON_BASE_RANDOM_H
#define COMMON_BASE_RANDOM_H

#include <stddef.h>
#include <stdint.h>

/* Bytes from the system's generator: good enough for tokens. */
void random_bytes(uint8_t *bytes, size_t size);
/* Evenly spread over 0 ... limit, both included: for jitter, not for secrets. */
uint64_t random_up_to(uint64_t limit);

#endif
