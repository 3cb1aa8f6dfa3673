/*
 * clock - monotonic milliseconds and waiting; replaced in tests; never used for order deadlines,
 * which MySQL's clock alone decides.
 */
#ifndef COMMON_BASE_CLOCK_H
#define COMMON_BASE_CLOCK_H

#include <stdint.h>

/* Milliseconds since some moment before the start of the process; never goes back. */
uint64_t clock_now_ms(void);
/* Microseconds of the same clock, for measuring. */
uint64_t clock_now_us(void);
/* Milliseconds since 1970 by this machine's clock: for log lines and signatures only. */
uint64_t clock_epoch_ms(void);
/* Waits; a signal ends the wait early, so that a stop request is seen at once. */
void clock_wait_ms(uint64_t milliseconds);

#endif
