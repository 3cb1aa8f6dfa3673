/*
 * settings - what lapse-shop is told by its environment and its command line.
 */
#ifndef DEMO_SHOP_SETTINGS_H
#define DEMO_SHOP_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/settings.h"
#include "common/io/db.h"
#include "common/service/service.h"
#include "demo/shared/argument.h"

enum {
	SHOP_ITEM_MAX = 16, /* lines of an order */
	SHOP_BATCH_MAX = 1000,
	SHOP_PREFIX_SIZE = 48 + 1, /* an order number has a dash and digits behind it */
	SHOP_URL_SIZE = 256,
	SHOP_MILLION = 1000000, /* shares are in millionths */
};

struct shop_settings {
	struct service_settings service;
	struct db_settings db;
	/* From the command line. */
	uint64_t order_count;
	uint64_t rate; /* orders a second; 0: as fast as they go */
	uint64_t timeout_ms;
	uint64_t jitter_ms; /* up to so much is added to the timeout */
	uint64_t pay_share;
	uint64_t last_moment_share; /* of those who pay */
	uint64_t sku_count;
	uint64_t item_min, item_max; /* lines of an order */
	uint64_t batch;
	bool is_endless;
	bool skips_reserve;
	char stock_url[SHOP_URL_SIZE];
	char prefix[SHOP_PREFIX_SIZE]; /* "": a new one for each run */
	struct argument argument;
};

extern const struct setting shop_settings_table[];
/* Lines about the command line, for --help. */
extern const char shop_usage[];

/* What holds when the command line says nothing; before it is read. */
void shop_set_defaults(struct shop_settings *settings);
/* One word of the command line; false: no such option or no such value. */
bool shop_take_argument(void *settings, const char *argument);
/* Rules between settings; mistakes go into report. */
void shop_check_settings(const void *settings, struct settings_report *report);

#endif
