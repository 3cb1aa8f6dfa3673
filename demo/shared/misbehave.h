/*
 * misbehave - switches that make a service of the demo fail, lie, hang and lose answers, so that
 * others can show what they do about it.
 */
#ifndef DEMO_SHARED_MISBEHAVE_H
#define DEMO_SHARED_MISBEHAVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/text.h"

enum {
	MISBEHAVE_SKU_MAX = 16,
	MISBEHAVE_VALUE_SIZE = 64,
};

struct misbehave_sku {
	char sku_id[TEXT_KEY_SIZE];
	unsigned int status; /* 400 to 599 */
};

/* Rates are in millionths of the calls.  All zero: no misbehaviour. */
struct misbehave {
	uint32_t fail_rate;       /* status 500 and no work */
	uint32_t error_code_rate; /* status 200 with a code that is not 0, and no work */
	uint32_t hang_rate;       /* no answer and no work */
	uint32_t lose_rate;       /* the work is done and the connection closed */
	uint64_t delay_ms;        /* of every answer */
	uint32_t retry_after_s;   /* goes with every failing status; 0: no such header */
	/* In a service without SKUs: what the call is about. */
	struct misbehave_sku skus[MISBEHAVE_SKU_MAX];
	size_t sku_count;
};

enum misbehave_act {
	MISBEHAVE_ACT_NONE,
	MISBEHAVE_ACT_FAIL,
	MISBEHAVE_ACT_ERROR_CODE,
	MISBEHAVE_ACT_HANG,
	MISBEHAVE_ACT_LOSE,
};

/* "fail-rate", "error-code", "hang", "lose-answers", "delay", "retry-after", "fail-sku"; ended by
 * NULL. */
extern const char *const misbehave_names[];
bool misbehave_is_name(const char *name);

/*
 * One switch by its name: rates are written "0.25", delay "50ms", retry-after "3" in seconds,
 * fail-sku "SKU=STATUS,SKU=STATUS", which adds to those there are; an empty value forgets all.
 * False: no such switch or no such value; then nothing has changed.
 */
bool misbehave_set(struct misbehave *misbehave, const char *name, const char *value);
/* The value of a switch as misbehave_set reads it. */
void misbehave_get(const struct misbehave *misbehave, const char *name, char *value, size_t size);

/* Throws the dice for one call. */
enum misbehave_act misbehave_choose(const struct misbehave *misbehave);
/* The status to fail with for this SKU; 0: none. */
unsigned int misbehave_find_status(const struct misbehave *misbehave, const char *sku_id);

#endif
