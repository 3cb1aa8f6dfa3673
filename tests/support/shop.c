#include "tests/support/shop.h"

#include <stdlib.h>
#include <string.h>

#include <check.h>

#include "common/base/memory.h"
#include "common/base/text.h"
#include "tests/support/fleet.h"
#include "tests/support/http_client.h"
#include "tests/support/process.h"
#include "tests/support/sandbox.h"
#include "tests/support/wait_until.h"

enum {
	WORDS_MAX = 32,
	ASK_LIMIT_MS = 20000,
	URL_SIZE = 64,
	SKUS = 20
};

struct shop {
	struct fleet *fleet;
	uint16_t stock_port;
	char stock_url[URL_SIZE];
};

static void put_in_front(const char *const *words, const char **all)
{
	size_t count = 2;

	for (size_t i = 0; words != NULL && words[i] != NULL; i++) {
		ck_assert_uint_lt(count, WORDS_MAX - 1);
		all[count++] = words[i];
	}
	all[count] = NULL;
}

static bool is_serving(void *context)
{
	const struct shop *shop = context;

	return http_client_get(shop->stock_port, "/v1/calls", ASK_LIMIT_MS, NULL) == 200;
}

/* lapse-shop sells SKU-1 to SKU-20 unless it is told otherwise. */
static void fill_shelves(const struct shop *shop)
{
	char path[URL_SIZE];

	for (int i = 1; i <= SKUS; i++) {
		(void)text_format(path, sizeof(path), "/v1/stock/SKU-%d", i);
		ck_assert_uint_eq(http_client_put(shop->stock_port, path, "{\"quantity\":100000}",
					  ASK_LIMIT_MS),
			200);
	}
}

void shop_create(const char *const *words, struct shop **shop_out)
{
	struct shop *shop = memory_allocate(sizeof(*shop));
	char address[URL_SIZE];
	const char *all[WORDS_MAX] = { "--listen", address };

	*shop_out = shop;
	fleet_create(&shop->fleet);
	shop->stock_port = sandbox_free_port();
	(void)text_format(address, sizeof(address), "127.0.0.1:%u", shop->stock_port);
	(void)text_format(shop->stock_url, sizeof(shop->stock_url), "http://%s", address);
	put_in_front(words, all);
	(void)sandbox_start(fleet_sandbox(shop->fleet), "lapse-stock", all);
	sandbox_set(fleet_sandbox(shop->fleet), "LAPSE_STOCK_URL", "%s", shop->stock_url);
	WAIT_UNTIL(is_serving, shop);
	fill_shelves(shop);
}

void shop_destroy(struct shop **shop)
{
	if (*shop == NULL)
		return;
	fleet_destroy(&(*shop)->fleet);
	free(*shop);
	*shop = NULL;
}

struct fleet *shop_fleet(const struct shop *shop)
{
	return shop->fleet;
}

struct process *shop_start_selling(struct shop *shop, const char *const *words)
{
	const char *all[WORDS_MAX] = { "--stock-url", shop->stock_url };

	put_in_front(words, all);
	sandbox_unset(fleet_sandbox(shop->fleet), "LAPSE_OPS_ADDR");
	return sandbox_start(fleet_sandbox(shop->fleet), "lapse-shop", all);
}

void shop_sell(struct shop *shop, const char *const *words)
{
	struct process *process = shop_start_selling(shop, words);
	int status = process_wait(process, WAIT_LIMIT_MS);
	char *output = process_everything(process);

	ck_assert_msg(status == 0, "lapse-shop: status %d\n%s", status, output);
	free(output);
	sandbox_kill(fleet_sandbox(shop->fleet), process);
}

static char *ask_ctl(struct shop *shop, const char *const *words, int expected)
{
	char *output = NULL;
	int status = sandbox_run(fleet_sandbox(shop->fleet), "lapsectl", words, &output);

	ck_assert_msg(status == expected, "lapsectl %s: status %d\n%s", words[0], status, output);
	return output;
}

static int64_t read_number(const char *text, const char *name)
{
	char wanted[64];

	(void)text_format(wanted, sizeof(wanted), "\"%s\":", name);
	const char *place = strstr(text, wanted);
	ck_assert_msg(place != NULL, "no %s in %s", name, text);
	return strtoll(place + strlen(wanted), NULL, 10);
}

int64_t shop_status(struct shop *shop, const char *name)
{
	static const char *const words[] = { "status", "--json", NULL };
	char *output = ask_ctl(shop, words, 0);
	int64_t number = read_number(output, name);

	free(output);
	return number;
}

static bool is_at_rest(void *context)
{
	static const char *const words[] = { "status", "--json", NULL };
	static const char *const numbers[] = { "orders_waiting", "orders_overdue", "outbox_due",
		"outbox_later", "stock_restore_pending", "stock_restore_running" };
	char *output = ask_ctl(context, words, 0);
	int64_t busy = 0;

	for (size_t i = 0; i < ARRAY_LENGTH(numbers); i++)
		busy += read_number(output, numbers[i]);
	free(output);
	return busy == 0;
}

void shop_await_rest(struct shop *shop)
{
	ck_assert_msg(wait_until(is_at_rest, shop, UINT64_C(2) * WAIT_LIMIT_MS),
		"waiting %lld, overdue %lld, outbox %lld, tasks %lld",
		(long long)shop_status(shop, "orders_waiting"),
		(long long)shop_status(shop, "orders_overdue"),
		(long long)shop_status(shop, "outbox_due"),
		(long long)shop_status(shop, "stock_restore_pending"));
}

void shop_verify(struct shop *shop)
{
	static const char *const words[] = { "verify", "--no-color", NULL };

	sandbox_set(fleet_sandbox(shop->fleet), "LAPSE_LEASE", "15s");
	free(ask_ctl(shop, words, 0));
}

char *shop_ask_stock(struct shop *shop, const char *path)
{
	char *answer = memory_allocate(HTTP_CLIENT_SIZE);

	ck_assert_uint_eq(http_client_get(shop->stock_port, path, ASK_LIMIT_MS, answer), 200);
	char *body = strstr(answer, "\r\n\r\n");
	ck_assert_ptr_nonnull(body);
	memmove(answer, body + 4, strlen(body + 4) + 1);
	return answer;
}

int64_t shop_count_stock(struct shop *shop)
{
	static const char words[] = "\"quantity\":";
	char *list = shop_ask_stock(shop, "/v1/stock");
	int64_t sum = 0;

	for (const char *place = strstr(list, words); place != NULL;
		place = strstr(place + 1, words))
		sum += strtoll(place + strlen(words), NULL, 10);
	free(list);
	return sum;
}
