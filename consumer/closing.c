#include "consumer/closing.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/failpoint.h"
#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/order/close.h"
#include "common/report/close_report.h"
#include "consumer/batch.h"
#include "consumer/settle.h"

struct closing {
	const struct settle *settle;
	size_t batch_max;
	struct close_order *orders;
	struct batch_entry **entries; /* sorted by order_no */
};

void closing_create(size_t batch_max, const struct settle *settle, struct closing **closing_out)
{
	struct closing *closing = memory_allocate(sizeof(*closing));

	closing->settle = settle;
	closing->batch_max = batch_max;
	closing->orders = memory_allocate_array(batch_max, sizeof(*closing->orders));
	closing->entries = memory_allocate_array(batch_max, sizeof(struct batch_entry *));
	*closing_out = closing;
}

void closing_destroy(struct closing **closing)
{
	if (*closing == NULL)
		return;
	free((*closing)->orders);
	free((*closing)->entries);
	free(*closing);
	*closing = NULL;
}

static int compare_entries(const void *left, const void *right)
{
	const struct batch_entry *const *a = left;
	const struct batch_entry *const *b = right;

	return strcmp((*a)->order_no, (*b)->order_no);
}

/* Up to a batch of ready entries, sorted by order; a suspect one is taken alone. */
static size_t choose_ready(struct closing *closing)
{
	struct batch *batch = closing->settle->batch;
	size_t left = batch_count_state(batch, BATCH_STATE_READY);
	size_t count = 0;

	for (size_t i = 0; left > 0 && count < closing->batch_max && i < batch_count(batch); i++) {
		struct batch_entry *entry = batch_at(batch, i);

		if (entry->state != BATCH_STATE_READY)
			continue;
		left--;
		if (entry->is_suspect && count > 0)
			continue;
		closing->entries[count++] = entry;
		if (entry->is_suspect)
			break;
	}
	qsort(closing->entries, count, sizeof(struct batch_entry *), compare_entries);
	return count;
}

/* One close_order for each number, however many messages name it. */
static size_t list_orders(struct closing *closing, size_t entry_count)
{
	size_t count = 0;

	for (size_t i = 0; i < entry_count; i++) {
		const char *order_no = closing->entries[i]->order_no;
		struct close_order *order = &closing->orders[count];

		if (count > 0 && text_equals(order[-1].order_no, order_no))
			continue;
		memset(order, 0, sizeof(*order));
		(void)text_copy(order->order_no, sizeof(order->order_no), order_no);
		count++;
	}
	return count;
}

/* A failed order needs its alert first, and waits for that alone. */
static void settle_entries(const struct closing *closing, size_t entry_count, bool is_alerted)
{
	const struct close_order *order = closing->orders;

	for (size_t i = 0; i < entry_count; i++) {
		struct batch_entry *entry = closing->entries[i];

		while (!text_equals(order->order_no, entry->order_no))
			order++;
		if ((order->outcome == CLOSE_OUTCOME_FAILED) == is_alerted)
			settle_outcome(closing->settle, entry, order);
	}
}

static void log_locked(const struct closing *closing, size_t order_count)
{
	const struct close_order *first = NULL;
	size_t count = 0;

	for (size_t i = order_count; i > 0; i--) {
		if (closing->orders[i - 1].outcome != CLOSE_OUTCOME_LOCKED)
			continue;
		first = &closing->orders[i - 1];
		count++;
	}
	if (first != NULL)
		log_info(log_event("orders_locked"), log_uint("count", count),
			log_text("order_no", first->order_no));
}

enum result closing_run(struct closing *closing, struct db *db, struct error *error)
{
	struct close_report report = { .transactions = 0 };
	const struct close_request request = {
		.reason = CLOSE_REASON_TIMEOUT, .source = CLOSE_SOURCE_MESSAGE, .report = &report
	};
	size_t entry_count = choose_ready(closing);

	if (entry_count == 0)
		return RESULT_NONE;
	FAILPOINT("after_claim");
	size_t order_count = list_orders(closing, entry_count);
	enum result result = close_orders(db, &request, closing->orders, order_count, error);
	close_report_count(&request, closing->orders, result == RESULT_OK ? order_count : 0);
	if (result != RESULT_OK)
		return result;
	log_locked(closing, order_count);
	settle_entries(closing, entry_count, false);
	result = close_report_alert(db, closing->orders, order_count, error);
	if (result == RESULT_OK)
		settle_entries(closing, entry_count, true);
	return result;
}
