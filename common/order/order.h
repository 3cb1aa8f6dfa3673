/*
 * order - reads order rows: the deadline as it stands, or everything an event tells about.
 *
 * Both take a list and answer in the same places; an order that is not there is ABSENT.
 */
#ifndef COMMON_ORDER_ORDER_H
#define COMMON_ORDER_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/result.h"
#include "common/base/text.h"

struct db;

enum {
	ORDER_LIST_MAX = 5000,
	ORDER_TIME_SIZE = 32,
	ORDER_WORD_SIZE = 16
};

enum order_state {
	ORDER_STATE_ABSENT,
	ORDER_STATE_UNPAID,
	ORDER_STATE_FINAL, /* PAID, CLOSED or a later state: no timeout concerns it */
};

/* By MySQL's clock when it was read. */
struct order_deadline {
	char order_no[TEXT_KEY_SIZE]; /* given */
	enum order_state state;
	bool has_deadline;
	int64_t remaining_ms; /* rounded up; 0 or less when it has passed */
	int64_t due_ms;       /* the deadline in milliseconds since 1970 */
};

struct order_detail {
	char order_no[TEXT_KEY_SIZE]; /* given */
	bool is_present;
	int64_t amount_cents;
	char currency[4];
	char status[ORDER_WORD_SIZE];
	char close_reason[ORDER_WORD_SIZE]; /* "" when NULL, as all below */
	char close_source[ORDER_WORD_SIZE];
	char expire_time[ORDER_TIME_SIZE]; /* ISO 8601 with Z */
	char pay_time[ORDER_TIME_SIZE];
	char close_time[ORDER_TIME_SIZE];
};

/* One statement each; at most ORDER_LIST_MAX.  A number may stand there twice. */
MUST_USE enum result order_read_deadlines(
	struct db *db, struct order_deadline *orders, size_t count, struct error *error);
MUST_USE enum result order_read_details(
	struct db *db, struct order_detail *orders, size_t count, struct error *error);

#endif
