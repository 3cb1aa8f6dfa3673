/*
 * backoff - how long to wait before attempt n: doubling, capped, with full jitter
 * ("Exponential Backoff And Jitter", AWS Architecture Blog, 2015).
 */
#ifndef COMMON_BASE_BACKOFF_H
#define COMMON_BASE_BACKOFF_H

#include <stdint.h>

/* The upper bound base * 2^attempt, at most cap; attempt counts from 0. */
uint64_t backoff_limit_ms(uint32_t attempt, uint64_t base_ms, uint64_t cap_ms);
/* Evenly spread over 1 ... backoff_limit_ms. */
uint64_t backoff_delay_ms(uint32_t attempt, uint64_t base_ms, uint64_t cap_ms);

#endif
