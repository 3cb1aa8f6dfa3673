/* The same order number many times at once. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/io/db.h"
#include "common/order/creation.h"
#include "tests/support/direct_db.h"
#include "tests/support/query.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"
#include "tests/support/shared.h"
#include "tests/support/wait_until.h"

enum {
	MAKERS = 4,
	ORDERS = 30, /* that all makers make */
};

static struct sandbox *sandbox;
static struct query *query;

static void set_up(void)
{
	sandbox_create(SANDBOX_NO_BROKER, &sandbox);
	query = sandbox_query(sandbox);
}

static void tear_down(void)
{
	sandbox_destroy(&sandbox);
}

static void describe(struct creation *creation, const char *order_no, uint32_t quantity)
{
	memset(creation, 0, sizeof(*creation));
	(void)text_copy(creation->order_no, sizeof(creation->order_no), order_no);
	(void)text_copy(creation->currency, sizeof(creation->currency), "CNY");
	(void)text_copy(creation->items[0].sku_id, TEXT_KEY_SIZE, "SKU-1");
	creation->items[0].quantity = quantity;
	creation->item_count = 1;
	creation->amount_cents = 9900;
}

static int64_t count_rows(const char *table)
{
	return query_number(query, "SELECT COUNT(*) FROM %s", table);
}

struct crowd {
	atomic_uint waiting;
	atomic_uint outcomes[CREATION_OUTCOME_DIFFERENT + 1];
	atomic_uint failed;
};

struct maker {
	struct crowd *crowd;
	uint32_t quantity; /* in each order; other makers, other content */
};

static bool all_are_ready(void *context)
{
	return atomic_load(&((struct crowd *)context)->waiting) == MAKERS;
}

static void make_orders(void *context)
{
	const struct maker *maker = context;
	struct creation *mine = memory_allocate(sizeof(*mine));
	struct direct_db connection;
	struct error error = { .text = "" };

	direct_db_open(&connection, sandbox, NULL, NULL);
	atomic_fetch_add(&maker->crowd->waiting, 1);
	(void)wait_until(all_are_ready, maker->crowd, WAIT_LIMIT_MS);
	for (unsigned int i = 0; i < ORDERS; i++) {
		enum creation_outcome outcome = CREATION_OUTCOME_DIFFERENT;
		char order_no[TEXT_KEY_SIZE];

		(void)text_format(order_no, sizeof(order_no), "A%u", i);
		describe(mine, order_no, maker->quantity);
		if (creation_run(connection.db, mine, &outcome, &error) == RESULT_OK)
			atomic_fetch_add(&maker->crowd->outcomes[outcome], 1);
		else
			atomic_fetch_add(&maker->crowd->failed, 1);
	}
	direct_db_close(&connection);
	free(mine);
}

/* Two makers make the same orders, the two others each other ones with the same numbers. */
START_TEST(one_number_many_times_at_once_is_one_order)
{
	static const uint32_t quantities[MAKERS] = { 1, 1, 2, 3 };
	struct crowd *crowd = shared_create(sizeof(*crowd));
	struct maker makers[MAKERS];
	pid_t children[MAKERS];

	for (size_t i = 0; i < MAKERS; i++) {
		makers[i] = (struct maker){ crowd, quantities[i] };
		children[i] = shared_fork(make_orders, &makers[i]);
	}
	for (size_t i = 0; i < MAKERS; i++)
		ck_assert_int_eq(waitpid(children[i], NULL, 0), children[i]);
	ck_assert_uint_eq(atomic_load(&crowd->failed), 0);
	ck_assert_uint_eq(atomic_load(&crowd->outcomes[CREATION_OUTCOME_CREATED]), ORDERS);
	ck_assert_uint_le(atomic_load(&crowd->outcomes[CREATION_OUTCOME_SAME]), ORDERS);
	ck_assert_int_eq(count_rows("t_order"), ORDERS);
	ck_assert_int_eq(count_rows("t_order_item"), ORDERS);
	ck_assert_int_eq(count_rows("t_outbox_event"), ORDERS);
	shared_destroy(crowd, sizeof(*crowd));
}
END_TEST

int main(void)
{
	const struct runner_fixture fixture = { set_up, tear_down };
	const TTest *const tests[] = { one_number_many_times_at_once_is_one_order };

	sandbox_need_servers();
	return runner_run_with("creation_crowd", &fixture, tests, ARRAY_LENGTH(tests));
}
