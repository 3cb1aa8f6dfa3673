/*
 * fake_clock - common/base/clock, but time moves only when a test says so; waiting moves it too.
 */
#ifndef TESTS_SUPPORT_FAKE_CLOCK_H
#define TESTS_SUPPORT_FAKE_CLOCK_H

#include <stdint.h>

void fake_clock_set_ms(uint64_t milliseconds);
void fake_clock_advance_ms(uint64_t milliseconds);

#endif
