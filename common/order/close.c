#include "common/order/close.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/base/random.h"
#include "common/io/db.h"
#include "common/order/close_due.h"
#include "common/order/close_transaction.h"

enum {
	TRY_MAX = 6,       /* transactions for one list that loses races */
	PAUSE_MAX_MS = 20, /* between them */
	LOOK_MAX = 4,      /* looks at rows that somebody holds, */
	LOOK_PAUSE_MS = 8, /* together well below a moment */
	RANGE_MAX = 64,    /* open halves; each split adds one at most */
	ERROR_DEADLOCK = 1213,
	ERROR_LOCK_WAIT = 1205,
};

const char *const close_reason_names[] = { "TIMEOUT", "USER_CANCEL", "OPERATOR", NULL };
const char *const close_source_names[] = { "message", "sweep", "api", "console", NULL };
const char *const close_outcome_names[] = { "closed", "already_paid", "already_closed", "not_due",
	"not_found", "locked", "failed", NULL };

static_assert(ARRAY_LENGTH(close_reason_names) == CLOSE_REASON_OPERATOR + 2, "one per reason");
static_assert(ARRAY_LENGTH(close_source_names) == CLOSE_SOURCE_CONSOLE + 2, "one per source");
static_assert(ARRAY_LENGTH(close_outcome_names) == CLOSE_OUTCOME_COUNT + 1, "one per outcome");

struct range {
	size_t first;
	size_t count;
};

static void count_race(const struct db *db, struct close_report *report)
{
	switch (db_last_errno(db)) {
	case ERROR_DEADLOCK:
		report->repeats[CLOSE_REPEAT_DEADLOCK]++;
		break;
	case ERROR_LOCK_WAIT:
		report->repeats[CLOSE_REPEAT_LOCK_WAIT]++;
		break;
	default:
		report->repeats[CLOSE_REPEAT_CHANGED]++;
		break;
	}
}

/*
 * The whole list again after each lost race, a bounded number of times.  A lock wait has already
 * lasted as long as the limit allows: it is not waited for again with everybody else in tow.
 */
static enum result close_list(struct db *db, const struct close_request *request,
	struct close_order *const *orders, size_t count, size_t *winner_count_out,
	struct error *error)
{
	enum result result = RESULT_CONFLICT;

	for (int i = 0; i < TRY_MAX; i++) {
		if (i > 0)
			clock_wait_ms(random_up_to(PAUSE_MAX_MS));
		result = close_transaction_run(db, request, orders, count, winner_count_out, error);
		if (result != RESULT_CONFLICT)
			break;
		count_race(db, request->report);
		if (db_last_errno(db) == ERROR_LOCK_WAIT)
			break;
	}
	return result;
}

/* A list of one that cannot be closed: locked for too long, or the bad order. */
static void give_up(struct close_order *order, enum result result, const struct error *error)
{
	order->outcome = result == RESULT_CONFLICT ? CLOSE_OUTCOME_LOCKED : CLOSE_OUTCOME_FAILED;
	(void)text_clip(order->error, sizeof(order->error), error->text, strlen(error->text));
}

static void split(struct range *ranges, size_t *range_count)
{
	struct range *last = &ranges[*range_count - 1];
	size_t half = last->count / 2;

	REQUIRE(*range_count < RANGE_MAX);
	ranges[*range_count] = (struct range){ last->first + half, last->count - half };
	last->count = half;
	*range_count += 1;
}

/*
 * Closes what can be closed; a list that fails is cut in halves until the bad order stands alone.
 * Orders that neither won nor failed still have the outcome CLOSE_OUTCOME_LOCKED.
 */
static enum result close_in_halves(struct db *db, const struct close_request *request,
	struct close_order *const *orders, size_t count, struct error *error)
{
	struct range ranges[RANGE_MAX] = { { 0, count } };
	size_t range_count = 1;

	while (range_count > 0) {
		struct range range = ranges[range_count - 1];
		size_t winner_count = 0;
		enum result result = close_list(
			db, request, orders + range.first, range.count, &winner_count, error);

		if (result == RESULT_TEMPORARY) {
			request->report->repeats[CLOSE_REPEAT_CONNECTION]++;
			return result;
		}
		if (result != RESULT_OK && range.count > 1) {
			request->report->repeats[CLOSE_REPEAT_SPLIT]++;
			split(ranges, &range_count);
			continue;
		}
		if (result != RESULT_OK)
			give_up(orders[range.first], result, error);
		range_count--;
	}
	return RESULT_OK;
}

/*
 * Moves the orders that have neither won nor been given up to the front; returns how many they are.
 */
static size_t keep_open(struct close_order **orders, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++)
		if (orders[i]->outcome == CLOSE_OUTCOME_LOCKED && orders[i]->error[0] == '\0')
			orders[kept++] = orders[i];
	return kept;
}

/*
 * Looks at rows that somebody holds a few times in quick succession: most are held by another
 * close and are final a moment later.
 */
static enum result close_sorted(struct db *db, const struct close_request *request,
	struct close_order **orders, size_t count, struct error *error)
{
	for (int look = 0; look < LOOK_MAX && count > 0; look++) {
		if (look > 0) {
			request->report->repeats[CLOSE_REPEAT_LOCK_WAIT]++;
			clock_wait_ms(LOOK_PAUSE_MS);
		}
		enum result result = close_in_halves(db, request, orders, count, error);
		count = keep_open(orders, count);
		if (result == RESULT_OK && count > 0)
			result = close_transaction_explain(db, request, orders, count, error);
		if (result != RESULT_OK)
			return result == RESULT_CONFLICT ? RESULT_TEMPORARY : result;
		count = keep_open(orders, count);
	}
	return RESULT_OK;
}

static int compare_orders(const void *left, const void *right)
{
	const struct close_order *const *a = left;
	const struct close_order *const *b = right;

	return strcmp((*a)->order_no, (*b)->order_no);
}

enum result close_orders(struct db *db, const struct close_request *request,
	struct close_order *orders, size_t count, struct error *error)
{
	struct close_order **sorted = memory_allocate_array(count, sizeof(struct close_order *));

	REQUIRE(count <= CLOSE_BATCH_MAX);
	for (size_t i = 0; i < count; i++) {
		orders[i].outcome = CLOSE_OUTCOME_LOCKED;
		orders[i].error[0] = '\0';
		sorted[i] = &orders[i];
	}
	qsort(sorted, count, sizeof(struct close_order *), compare_orders);
	enum result result = close_sorted(db, request, sorted, count, error);
	free(sorted);
	return result;
}

enum result close_due_orders(struct db *db, const struct close_due_request *due,
	struct close_order *orders, size_t *count_out, struct close_report *report,
	struct error *error)
{
	const struct close_request request = {
		.reason = CLOSE_REASON_TIMEOUT, .source = CLOSE_SOURCE_SWEEP, .report = report
	};
	const struct close_cursor start = *due->cursor;
	enum result result = close_transaction_run_due(db, &request, due, orders, count_out, error);

	if (result == RESULT_CONFLICT)
		count_race(db, report);
	/* The same orders by their numbers: that way repeats, and finds the bad one. */
	if ((result == RESULT_CONFLICT || result == RESULT_PERMANENT) && *count_out > 0)
		result = close_orders(db, &request, orders, *count_out, error);
	if (result != RESULT_OK)
		*due->cursor = start;
	return result;
}
