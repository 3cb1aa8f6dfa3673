#include "demo/shop/shop.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/base/shutdown.h"
#include "common/base/text.h"
#include "common/base/ulid.h"
#include "demo/shop/payments.h"
#include "demo/shop/plan.h"
#include "demo/shop/progress.h"
#include "demo/shop/reservation.h"
#include "demo/shop/sales.h"

enum {
	WAIT_MAX_MS = 50, /* of a turn */
	PAY_BATCH_MAX = 100,
};

struct shop {
	const struct shop_settings *settings;
	struct db *db;
	struct reservation *reservation;
	struct payments *payments;
	struct progress progress;
	char prefix[SHOP_PREFIX_SIZE];
	uint64_t planned; /* orders begun */
	/* Reserved and to be inserted; kept until they are. */
	struct plan_order *ready;
	size_t ready_count;
	bool is_in_doubt; /* their insert ended without an answer: ready stays as it is */
	/* Due payments; kept until they are made. */
	struct sales_payment paying[PAY_BATCH_MAX];
	size_t paying_count;
};

static void dump(void *context)
{
	const struct shop *shop = context;

	log_info(log_event("dump_shop"), log_uint("inserted", shop->progress.inserted),
		log_uint("reserving", reservation_count(shop->reservation)),
		log_uint("ready", shop->ready_count),
		log_uint("to_pay", payments_count(shop->payments)));
}

const struct service_program shop_program = {
	.name = "lapse-shop",
	.summary = "Customers for demo and tests: create orders, pay a share of them.",
	.settings = shop_settings_table,
	.check = shop_check_settings,
	.checks = SERVICE_CHECK_MYSQL,
	.dump = dump,
	.take_argument = shop_take_argument,
	.usage = shop_usage,
};

void shop_create(const struct shop_settings *settings, struct shop **shop_out)
{
	struct shop *shop = memory_allocate(sizeof(*shop));
	char run[ULID_SIZE];

	shop->settings = settings;
	db_create(&settings->db, &shop->db);
	reservation_create(settings->stock_url, &shop->reservation);
	payments_create(&shop->payments);
	shop->ready = memory_allocate_array(settings->batch, sizeof(*shop->ready));
	ulid_generate(run);
	(void)text_copy(shop->prefix, sizeof(shop->prefix),
		settings->prefix[0] == '\0' ? run : settings->prefix);
	progress_start(&shop->progress, settings->is_endless ? 0 : settings->order_count);
	*shop_out = shop;
}

void shop_destroy(struct shop **shop)
{
	if (*shop == NULL)
		return;
	reservation_destroy(&(*shop)->reservation);
	payments_destroy(&(*shop)->payments);
	db_destroy(&(*shop)->db);
	free((*shop)->ready);
	free(*shop);
	*shop = NULL;
}

/* How many orders should have been begun by now. */
static uint64_t count_wanted(const struct shop *shop)
{
	const struct shop_settings *settings = shop->settings;
	uint64_t limit = settings->is_endless ? UINT64_MAX : settings->order_count;
	uint64_t age_ms = clock_now_ms() - shop->progress.start_ms;

	if (settings->rate == 0 || age_ms * settings->rate / 1000 + 1 > limit)
		return limit;
	return age_ms * settings->rate / 1000 + 1;
}

static uint64_t find_next_order_ms(const struct shop *shop)
{
	if (!shop->settings->is_endless && shop->planned == shop->settings->order_count)
		return UINT64_MAX;
	if (reservation_count_free(shop->reservation) == 0)
		return UINT64_MAX; /* an answer comes first */
	if (shop->settings->rate == 0)
		return 0;
	return shop->progress.start_ms + shop->planned * 1000 / shop->settings->rate;
}

static void plan_next(struct shop *shop, struct plan_order *order_out)
{
	plan_order(shop->settings, shop->prefix, ++shop->planned, order_out);
}

/* What is added to a batch in doubt would be taken for a part of its transaction. */
static bool has_room(const struct shop *shop)
{
	return !shop->is_in_doubt && shop->ready_count < shop->settings->batch;
}

/* Without the product service an order is ready as soon as it is planned. */
static void plan_orders(struct shop *shop)
{
	uint64_t wanted = count_wanted(shop);
	struct plan_order order;

	if (shop->settings->skips_reserve) {
		while (shop->planned < wanted && has_room(shop))
			plan_next(shop, &shop->ready[shop->ready_count++]);
		return;
	}
	while (shop->planned < wanted && reservation_count_free(shop->reservation) > 0) {
		plan_next(shop, &order);
		reservation_start(shop->reservation, &order);
	}
}

static void take_reserved(struct shop *shop)
{
	struct plan_order order;
	enum reservation_outcome outcome = RESERVATION_OUTCOME_FAILED;

	while (has_room(shop) && reservation_take(shop->reservation, &order, &outcome)) {
		switch (outcome) {
		case RESERVATION_OUTCOME_RESERVED:
			shop->ready[shop->ready_count++] = order;
			break;
		case RESERVATION_OUTCOME_REFUSED:
			shop->progress.refused++;
			break;
		case RESERVATION_OUTCOME_FAILED:
			log_error(log_event("reserve_given_up"),
				log_text("order_no", order.order_no));
			shop->progress.failed++;
			break;
		}
	}
}

/* The batch is one transaction, so one of its orders speaks for all. */
static enum result insert_ready(struct shop *shop, struct error *error)
{
	enum result result = RESULT_NONE;

	if (shop->is_in_doubt)
		result = sales_find(shop->db, shop->ready[0].order_no, error);
	if (result == RESULT_NONE)
		result = sales_insert(shop->db, shop->ready, shop->ready_count, error);
	/* A lost race tells nothing of the insert before. */
	shop->is_in_doubt =
		result == RESULT_TEMPORARY || (shop->is_in_doubt && result == RESULT_CONFLICT);
	return result;
}

static enum result create_orders(struct shop *shop, struct error *error)
{
	if (shop->ready_count == 0)
		return RESULT_OK;
	enum result result = insert_ready(shop, error);
	if (result != RESULT_OK)
		return result;
	uint64_t now_ms = clock_now_ms();
	for (size_t i = 0; i < shop->ready_count; i++) {
		const struct plan_order *order = &shop->ready[i];

		if (order->is_paid)
			payments_add(shop->payments, order->order_no, now_ms + order->pay_after_ms);
	}
	shop->progress.inserted += shop->ready_count;
	shop->ready_count = 0;
	return RESULT_OK;
}

static enum result pay_orders(struct shop *shop, struct error *error)
{
	uint64_t now_ms = clock_now_ms();

	while (shop->paying_count < PAY_BATCH_MAX &&
		payments_take_due(
			shop->payments, now_ms, shop->paying[shop->paying_count].order_no))
		shop->paying_count++;
	if (shop->paying_count == 0)
		return RESULT_OK;
	enum result result = sales_pay(shop->db, shop->paying, shop->paying_count, error);
	if (result != RESULT_OK)
		return result;
	for (size_t i = 0; i < shop->paying_count; i++) {
		if (shop->paying[i].is_paid)
			shop->progress.paid++;
		else
			shop->progress.too_late++;
	}
	shop->paying_count = 0;
	return RESULT_OK;
}

static bool is_over(const struct shop *shop)
{
	return !shop->settings->is_endless && shop->planned == shop->settings->order_count &&
	       reservation_count(shop->reservation) == 0 && shop->ready_count == 0 &&
	       shop->paying_count == 0 && payments_count(shop->payments) == 0;
}

/* Until the next order or payment, or an answer of the product service. */
static void wait_for_work(struct shop *shop)
{
	uint64_t next_ms = find_next_order_ms(shop);
	uint64_t payment_ms = payments_next_ms(shop->payments);
	uint64_t now_ms = clock_now_ms();
	uint64_t wait_ms = WAIT_MAX_MS;

	if (payment_ms < next_ms)
		next_ms = payment_ms;
	if (next_ms < now_ms + wait_ms)
		wait_ms = next_ms > now_ms ? next_ms - now_ms : 0;
	if (reservation_count(shop->reservation) > 0)
		reservation_work(shop->reservation, wait_ms);
	else if (wait_ms > 0)
		clock_wait_ms(wait_ms);
}

static enum result work(struct shop *shop, struct error *error)
{
	enum result result = db_ensure_connected(shop->db, error);

	if (result == RESULT_OK)
		result = create_orders(shop, error);
	if (result == RESULT_OK)
		result = pay_orders(shop, error);
	return result;
}

enum result shop_step(void *context, struct error *error)
{
	struct shop *shop = context;

	plan_orders(shop);
	wait_for_work(shop);
	take_reserved(shop);
	enum result result = work(shop, error);
	service_set_check(
		SERVICE_CHECK_MYSQL, result == RESULT_OK || result == RESULT_CONFLICT, error->text);
	shop->progress.to_pay = payments_count(shop->payments) + shop->paying_count;
	progress_show(&shop->progress);
	if (is_over(shop))
		shutdown_request();
	return result;
}

int shop_finish(struct shop *shop)
{
	progress_finish(&shop->progress, shop->prefix);
	return shop->progress.failed > 0 ? EXIT_STATUS_FAILED : EXIT_STATUS_OK;
}
