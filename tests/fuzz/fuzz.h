/*
 * fuzz - what every fuzz target is: a function that the fuzzer calls with any bytes.
 *
 * It looks for crashes, for what the sanitizers see, and for promises of a header that do not hold
 * (REQUIRE).  What it finds is kept by the fuzzer as a file; it becomes a unit test.
 */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* NOLINTNEXTLINE(readability-identifier-naming): the fuzzer's name for it. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

#endif
