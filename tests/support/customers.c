#include "tests/support/customers.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>

#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/base/result.h"
#include "common/base/text.h"
#include "tests/support/gateway.h"
#include "tests/support/query.h"
#include "tests/support/shared.h"

enum {
	PROCESSES_MAX = 16,
	BODY_SIZE = 1024,
	WORDS_SIZE = 512,
	ITEMS_MAX = 3,
	FIRST_CENTS = 1000, /* of order 0; each has its own price */
	ANSWER_LIMIT_MS = 20000,
	PAUSE_MS = 20,
};

enum final_state {
	FINAL_STATE_NONE,
	FINAL_STATE_PAID,
	FINAL_STATE_CLOSED,
};

/* What all processes share. */
struct ledger {
	atomic_bool is_over;
	atomic_ullong answers;
	atomic_ullong strange;
	char strange_words[WORDS_SIZE];
	atomic_uchar final_states[CUSTOMERS_ORDERS]; /* as soon as somebody has read one */
	atomic_bool is_sent[CUSTOMERS_ORDERS][CUSTOMERS_TRADES];
	atomic_bool is_acknowledged[CUSTOMERS_ORDERS][CUSTOMERS_TRADES];
};

struct customers {
	uint64_t seed;
	uint16_t ports[CUSTOMERS_GATEWAYS];
	struct ledger *ledger;
	pid_t processes[PROCESSES_MAX];
	unsigned int count;
};

/* One of them, in its own process. */
struct customer {
	const struct customers *all;
	struct ledger *ledger;
	uint64_t random_state;
	struct api_client *clients[CUSTOMERS_GATEWAYS];
};

/* splitmix64, as in runner. */
static uint64_t mix(uint64_t value)
{
	value += UINT64_C(0x9E3779B97F4A7C15);
	value = (value ^ (value >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
	value = (value ^ (value >> 27)) * UINT64_C(0x94D049BB133111EB);
	return value ^ (value >> 31);
}

static uint32_t draw(struct customer *customer, uint32_t below)
{
	customer->random_state = mix(customer->random_state);
	return (uint32_t)(customer->random_state % below);
}

/* A number for one trait of one order or trade, always the same. */
static uint32_t trait(const struct customers *all, uint32_t order, uint32_t which, uint32_t below)
{
	return (uint32_t)(mix(all->seed ^ mix(order * UINT64_C(64) + which)) % below);
}

static bool is_created_ever(const struct customers *all, uint32_t order)
{
	return trait(all, order, 0, 20) != 0;
}

static void format_order(const struct customers *all, uint32_t order, char body[BODY_SIZE])
{
	static const char *const timeouts[] = { "", "300ms", "1s", "2s", "3s", "5s", "8s", "12s" };
	uint32_t items = trait(all, order, 1, ITEMS_MAX + 1);

	(void)text_format(body, BODY_SIZE,
		"{\"order_no\":\"B%" PRIu32 "\",\"user_id\":\"%" PRIu32
		"\",\"amount_cents\":%" PRIu32 ",\"timeout\":\"%s\",\"items\":[",
		order, order, FIRST_CENTS + order,
		timeouts[trait(all, order, 2, ARRAY_LENGTH(timeouts))]);
	for (uint32_t i = 0; i < items; i++) {
		size_t size = strlen(body);

		(void)text_format(body + size, BODY_SIZE - size,
			"%s{\"sku_id\":\"SKU-%" PRIu32 "\",\"quantity\":%" PRIu32 "}",
			i == 0 ? "" : ",", trait(all, order, 10 + i, 5),
			trait(all, order, 20 + i, 4));
	}
	size_t size = strlen(body);
	(void)text_copy(body + size, BODY_SIZE - size, "]}");
}

/* One in five brings the wrong amount, one in ten the wrong currency. */
static int64_t trade_amount(const struct customers *all, uint32_t order, uint32_t trade)
{
	return FIRST_CENTS + (int64_t)order + (trait(all, order, 30 + trade, 5) == 0 ? 1 : 0);
}

static const char *trade_currency(const struct customers *all, uint32_t order, uint32_t trade)
{
	return trait(all, order, 40 + trade, 10) == 0 ? "USD" : "CNY";
}

static void note_strange(
	struct customer *customer, const struct api_answer *answer, const char *what)
{
	if (atomic_fetch_add(&customer->ledger->strange, 1) == 0)
		(void)text_format(customer->ledger->strange_words, WORDS_SIZE, "%s: %u %.300s",
			what, answer->status, answer->body);
}

/* No answer, and 503: the same again later.  All else must be one of the expected. */
static void expect(struct customer *customer, const struct api_answer *answer, const char *what,
	const unsigned int *expected, size_t count)
{
	if (answer->status == API_CLIENT_NO_ANSWER)
		return;
	atomic_fetch_add(&customer->ledger->answers, 1);
	for (size_t i = 0; i < count; i++)
		if (answer->status == expected[i])
			return;
	if (answer->status != 503)
		note_strange(customer, answer, what);
}

#define EXPECT(customer, answer, what, ...)                                         \
	expect((customer), (answer), (what), (const unsigned int[]){ __VA_ARGS__ }, \
		ARRAY_LENGTH(((unsigned int[]){ __VA_ARGS__ })))

static struct api_client *choose_gateway(struct customer *customer)
{
	return customer->clients[draw(customer, CUSTOMERS_GATEWAYS)];
}

static void create_order(struct customer *customer, uint32_t order)
{
	char body[BODY_SIZE];

	if (!is_created_ever(customer->all, order))
		return;
	format_order(customer->all, order, body);
	EXPECT(customer, api_client_post(choose_gateway(customer), "/v1/orders", body), "create",
		200, 201);
}

static void pay_order(struct customer *customer, uint32_t order, uint32_t trade)
{
	char order_no[TEXT_KEY_SIZE];
	char trade_no[TEXT_KEY_SIZE];
	const struct gateway_notice notice = { .order_no = order_no,
		.trade_no = trade_no,
		.amount_cents = trade_amount(customer->all, order, trade),
		.currency = trade_currency(customer->all, order, trade) };

	(void)text_format(order_no, sizeof(order_no), "B%" PRIu32, order);
	(void)text_format(trade_no, sizeof(trade_no), "T%" PRIu32 "-%" PRIu32, order, trade);
	atomic_store(&customer->ledger->is_sent[order][trade], true);
	const struct api_answer *answer = gateway_notify(choose_gateway(customer), &notice);
	EXPECT(customer, answer, "pay", 200, 404);
	if (answer->status == 200)
		atomic_store(&customer->ledger->is_acknowledged[order][trade], true);
}

/* A final state that somebody has seen is the state for ever. */
static void note_final(struct customer *customer, uint32_t order, const struct api_answer *answer)
{
	unsigned char before = FINAL_STATE_NONE;
	unsigned char now = strstr(answer->body, "\"status\":\"PAID\"") != NULL ? FINAL_STATE_PAID
			    : strstr(answer->body, "\"status\":\"CLOSED\"") != NULL
				    ? FINAL_STATE_CLOSED
				    : FINAL_STATE_NONE;

	if (answer->status != 200)
		return;
	if (!atomic_compare_exchange_strong(&customer->ledger->final_states[order], &before, now) &&
		before != now)
		note_strange(customer, answer, "another state than before");
	if (now == FINAL_STATE_CLOSED && strstr(answer->body, "APPLIED") != NULL)
		note_strange(customer, answer, "closed, but its money is applied");
}

static void read_order(struct customer *customer, uint32_t order)
{
	char path[64];

	(void)text_format(path, sizeof(path), "/v1/orders/B%" PRIu32, order);
	const struct api_answer *answer = api_client_get(choose_gateway(customer), path);
	EXPECT(customer, answer, "read", 200, 404);
	note_final(customer, order, answer);
}

static void cancel_order(struct customer *customer, uint32_t order)
{
	char path[64];

	(void)text_format(path, sizeof(path), "/v1/orders/B%" PRIu32 "/cancel", order);
	const struct api_answer *answer = api_client_post(choose_gateway(customer), path, NULL);
	EXPECT(customer, answer, "cancel", 200, 404, 409);
	note_final(customer, order, answer);
}

/* A notice about something else than a payment. */
static void tell_other_state(struct customer *customer, uint32_t order)
{
	char order_no[TEXT_KEY_SIZE];

	(void)text_format(order_no, sizeof(order_no), "B%" PRIu32, order);
	EXPECT(customer,
		gateway_notify(choose_gateway(customer),
			&(struct gateway_notice){
				.order_no = order_no, .trade_no = "T0-0", .state = "refunded" }),
		"other state", 200);
}

static void act(struct customer *customer)
{
	uint32_t order = draw(customer, CUSTOMERS_ORDERS);
	uint32_t choice = draw(customer, 100);

	if (choice < 35)
		create_order(customer, order);
	else if (choice < 70)
		pay_order(customer, order, draw(customer, CUSTOMERS_TRADES));
	else if (choice < 76)
		cancel_order(customer, order);
	else if (choice < 95)
		read_order(customer, order);
	else
		tell_other_state(customer, order);
}

static void begin(struct customer *customer, const struct customers *all, uint64_t number)
{
	*customer = (struct customer){
		.all = all, .ledger = all->ledger, .random_state = mix(all->seed ^ mix(number))
	};
	for (size_t i = 0; i < CUSTOMERS_GATEWAYS; i++) {
		api_client_create(all->ports[i], &customer->clients[i]);
		api_client_set_limit(customer->clients[i], ANSWER_LIMIT_MS);
	}
}

static void end(struct customer *customer)
{
	for (size_t i = 0; i < CUSTOMERS_GATEWAYS; i++)
		api_client_destroy(&customer->clients[i]);
}

/* What a customer's process is told. */
struct order_to_live {
	const struct customers *all;
	uint64_t number;
};

static void live(void *context)
{
	const struct order_to_live *orders = context;
	struct customer customer;

	begin(&customer, orders->all, orders->number);
	while (!atomic_load(&customer.ledger->is_over))
		act(&customer);
	end(&customer);
}

void customers_start(uint64_t seed, const uint16_t ports[CUSTOMERS_GATEWAYS], unsigned int count,
	struct customers **customers_out)
{
	struct customers *customers = memory_allocate(sizeof(*customers));

	REQUIRE(count <= PROCESSES_MAX);
	customers->seed = seed;
	memcpy(customers->ports, ports, sizeof(customers->ports));
	customers->ledger = shared_create(sizeof(*customers->ledger));
	*customers_out = customers;
	for (; customers->count < count; customers->count++) {
		struct order_to_live orders = { customers, customers->count + 1 };

		customers->processes[customers->count] = shared_fork(live, &orders);
	}
}

void customers_stop(struct customers *customers)
{
	atomic_store(&customers->ledger->is_over, true);
	for (unsigned int i = 0; i < customers->count; i++)
		(void)waitpid(customers->processes[i], NULL, 0);
	customers->count = 0;
}

void customers_destroy(struct customers **customers)
{
	if (*customers == NULL)
		return;
	for (unsigned int i = 0; i < (*customers)->count; i++)
		shared_end((*customers)->processes[i]);
	shared_destroy((*customers)->ledger, sizeof(*(*customers)->ledger));
	free(*customers);
	*customers = NULL;
}

uint64_t customers_count_answers(const struct customers *customers)
{
	return atomic_load(&customers->ledger->answers);
}

uint64_t customers_count_strange(const struct customers *customers, char words_out[512])
{
	(void)text_copy(words_out, WORDS_SIZE, customers->ledger->strange_words);
	return atomic_load(&customers->ledger->strange);
}

bool customers_repeat(struct customers *customers, uint64_t limit_ms)
{
	uint64_t end_ms = clock_now_ms() + limit_ms;
	struct customer channel;
	bool is_done = true;

	begin(&channel, customers, 0);
	for (uint32_t i = 0; i < CUSTOMERS_ORDERS * CUSTOMERS_TRADES; i++) {
		uint32_t order = i / CUSTOMERS_TRADES;
		uint32_t trade = i % CUSTOMERS_TRADES;

		if (!atomic_load(&channel.ledger->is_sent[order][trade]))
			continue;
		pay_order(&channel, order, trade);
		while (!atomic_load(&channel.ledger->is_acknowledged[order][trade]) &&
			clock_now_ms() < end_ms) {
			clock_wait_ms(PAUSE_MS);
			pay_order(&channel, order, trade);
		}
		is_done = is_done && atomic_load(&channel.ledger->is_acknowledged[order][trade]);
	}
	end(&channel);
	return is_done;
}

void customers_write_books(const struct customers *customers, struct query *query)
{
	query_run(query, "CREATE TABLE t_paid (trade_no VARCHAR(64) CHARACTER SET ascii COLLATE "
			 "ascii_bin PRIMARY KEY, order_no VARCHAR(64) CHARACTER SET ascii COLLATE "
			 "ascii_bin, amount_cents BIGINT, currency CHAR(3) CHARACTER SET ascii "
			 "COLLATE ascii_bin)");
	for (uint32_t i = 0; i < CUSTOMERS_ORDERS * CUSTOMERS_TRADES; i++) {
		uint32_t order = i / CUSTOMERS_TRADES;
		uint32_t trade = i % CUSTOMERS_TRADES;

		if (atomic_load(&customers->ledger->is_sent[order][trade]))
			query_run(query,
				"INSERT INTO t_paid VALUES ('T%" PRIu32 "-%" PRIu32 "', 'B%" PRIu32
				"', %" PRId64 ", '%s')",
				order, trade, order, trade_amount(customers, order, trade),
				trade_currency(customers, order, trade));
	}
}
