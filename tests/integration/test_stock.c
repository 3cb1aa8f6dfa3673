/*
 * lapse-stock as its callers see it, over HTTP: good and bad requests, misbehaviour on request, and
 * trouble of its database.
 */
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <check.h>

#include "common/base/clock.h"
#include "common/base/compiler.h"
#include "common/base/text.h"
#include "tests/support/http_client.h"
#include "tests/support/listener.h"
#include "tests/support/process.h"
#include "tests/support/proxy.h"
#include "tests/support/query.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"
#include "tests/support/wait_until.h"

enum {
	CALL_MS = 5000,
	SHORT_MS = 300,
	REQUEST_SIZE = 4096,
};

static struct sandbox *sandbox;
static struct process *stock;
static struct proxy *proxy;
static uint16_t port;
static char answer[REQUEST_SIZE];

/* The status, or 0 when the connection ended without an answer or the time is up. */
static unsigned int call(
	const char *method, const char *path, const char *key, const char *body, int limit_ms)
{
	uint64_t end_ms = clock_now_ms() + (uint64_t)limit_ms;
	char request[REQUEST_SIZE];
	size_t size = 0;
	ssize_t got = 1;
	int handle = listener_connect(port);
	struct pollfd events = { .fd = handle, .events = POLLOUT };

	(void)text_format(request, sizeof(request),
		"%s %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\nIdempotency-Key: %s\r\n"
		"Content-Length: %zu\r\n\r\n%s",
		method, path, key, strlen(body), body);
	(void)poll(&events, 1, limit_ms);
	(void)send(handle, request, strlen(request), MSG_NOSIGNAL);
	events.events = POLLIN;
	while (got > 0 && clock_now_ms() < end_ms &&
		poll(&events, 1, (int)(end_ms - clock_now_ms())) > 0) {
		got = recv(handle, answer + size, sizeof(answer) - 1 - size, 0);
		size += got > 0 ? (size_t)got : 0;
	}
	(void)close(handle);
	answer[size] = '\0';
	return size < 12 ? 0 : (unsigned int)strtoul(answer + strlen("HTTP/1.1 "), NULL, 10);
}

static void write_move(char *body, const char *key, const char *sku_id, int quantity)
{
	(void)text_format(body, REQUEST_SIZE / 2,
		"{\"idempotency_key\":\"%s\",\"order_no\":\"A1\",\"sku_id\":\"%s\","
		"\"quantity\":%d,\"more\":null}",
		key, sku_id, quantity);
}

static unsigned int restore(const char *key, const char *sku_id, int quantity, int limit_ms)
{
	char body[REQUEST_SIZE / 2];

	write_move(body, key, sku_id, quantity);
	return call("POST", "/v1/stock/restores", key, body, limit_ms);
}

static void misbehave(const char *body)
{
	ck_assert_uint_eq(call("POST", "/v1/misbehave", "", body, CALL_MS), 200);
}

static void expect_answer(unsigned int status, unsigned int wanted, const char *words)
{
	ck_assert_msg(status == wanted && strstr(answer, words) != NULL,
		"%u, not %u with \"%s\": %s", status, wanted, words, answer);
}

static void expect_stock(const char *sku_id, const char *words)
{
	char path[128];

	(void)text_format(path, sizeof(path), "/v1/stock/%s", sku_id);
	expect_answer(call("GET", path, "", "", CALL_MS), 200, words);
}

static bool has_stock(void *context)
{
	(void)context;
	return call("PUT", "/v1/stock/SKU-1", "", "{\"quantity\":10}", SHORT_MS) == 200;
}

static void start(void)
{
	char address[32];
	const char *const words[] = { "--listen", address, NULL };

	(void)text_format(address, sizeof(address), "127.0.0.1:%u", port);
	stock = sandbox_start(sandbox, "lapse-stock", words);
	WAIT_UNTIL(has_stock, NULL);
}

static void set_up(void)
{
	sandbox_create(SANDBOX_NO_SCHEMA | SANDBOX_NO_BROKER, &sandbox);
	proxy = sandbox_proxy_mysql(sandbox);
	port = sandbox_free_port();
	start();
}

static void tear_down(void)
{
	sandbox_destroy(&sandbox);
}

START_TEST(a_restore_has_its_effect_once)
{
	expect_answer(restore("r:1", "SKU-1", 2, CALL_MS), 200, "{\"code\":0,");
	expect_answer(restore("r:1", "SKU-1", 2, CALL_MS), 200, "{\"code\":0,");
	expect_answer(restore("r:1", "SKU-1", 3, CALL_MS), 409, "{\"code\":3,");
	expect_answer(restore("r:2", "NOPE", 2, CALL_MS), 200, "{\"code\":2,");
	expect_stock("SKU-1", "\"quantity\":12}");
	expect_answer(call("GET", "/v1/calls", "", "", CALL_MS), 200,
		"\"calls\":4,\"applied\":1,\"repeated\":1,\"refused\":2");
	expect_answer(call("GET", "/v1/ledger?order_no=A1", "", "", CALL_MS), 200,
		"\"idempotency_key\":\"r:1\"");
}
END_TEST

START_TEST(a_list_is_answered_key_by_key)
{
	static const char body[] =
		"{\"restores\":[{\"idempotency_key\":\"r:1\",\"order_no\":\"A1\","
		"\"sku_id\":\"SKU-1\",\"quantity\":2},{\"idempotency_key\":\"r:2\","
		"\"order_no\":\"A1\",\"sku_id\":\"NOPE\",\"quantity\":2}]}";

	expect_answer(call("POST", "/v1/stock/restores", "", body, CALL_MS), 200,
		"{\"code\":0,\"results\":[{\"idempotency_key\":\"r:1\",\"code\":0},"
		"{\"idempotency_key\":\"r:2\",\"code\":2,");
	expect_stock("SKU-1", "\"quantity\":12}");
}
END_TEST

START_TEST(a_reserve_takes_what_there_is)
{
	char body[REQUEST_SIZE / 2];

	write_move(body, "t:1", "SKU-1", 10);
	expect_answer(call("POST", "/v1/stock/reserves", "t:1", body, CALL_MS), 200, "\"code\":0");
	write_move(body, "t:2", "SKU-1", 1);
	expect_answer(call("POST", "/v1/stock/reserves", "t:2", body, CALL_MS), 200, "\"code\":1");
	expect_stock("SKU-1", "\"quantity\":0}");
}
END_TEST

/* A movement up to its quantity. */
#define KEYS(key, order_no) \
	"{\"idempotency_key\":\"" key "\",\"order_no\":\"" order_no "\",\"sku_id\":\"SKU-1\""

START_TEST(a_bad_request_is_answered_400_and_moves_nothing)
{
	static const char *const bodies[] = {
		"",
		"[]",
		"{}",
		"{\"restores\":[]}",
		"{\"restores\":{}}",
		"{\"restores\":[1]}",
		KEYS("k", "A1") "}",
		KEYS("k", "A1") ",\"quantity\":0}",
		KEYS("k", "A1") ",\"quantity\":1.5}",
		KEYS("k", "A 1") ",\"quantity\":1}",
		"{\"idempotency_key\":\"k\",\"order_no\":1,\"sku_id\":\"SKU-1\",\"quantity\":1}",
		KEYS("other", "A1") ",\"quantity\":1}",
		KEYS("k", "A1") ",\"quantity\":1",
	};

	for (size_t i = 0; i < ARRAY_LENGTH(bodies); i++)
		ck_assert_msg(call("POST", "/v1/stock/restores", "k", bodies[i], CALL_MS) == 400,
			"%s: %s", bodies[i], answer);
	ck_assert_uint_eq(call("PUT", "/v1/stock/SKU-1", "", "{\"quantity\":-1}", CALL_MS), 400);
	ck_assert_uint_eq(call("GET", "/v1/stock/..%2Fcalls", "", "", CALL_MS), 404);
	ck_assert_uint_eq(call("GET", "/v1/ledger", "", "", CALL_MS), 400);
	expect_stock("SKU-1", "\"quantity\":10}");
}
END_TEST

START_TEST(it_fails_and_lies_when_it_is_told_to)
{
	misbehave("{\"fail-rate\":1,\"retry-after\":3}");
	expect_answer(restore("r:1", "SKU-1", 2, CALL_MS), 500, "\r\nRetry-After: 3\r\n");
	misbehave("{\"fail-rate\":\"0\",\"error-code\":\"1\"}");
	expect_answer(restore("r:1", "SKU-1", 2, CALL_MS), 200, "{\"code\":9,");
	misbehave("{\"error-code\":0,\"fail-sku\":\"SKU-1=410\"}");
	expect_answer(restore("r:1", "SKU-1", 2, CALL_MS), 410, "{\"code\":410,");
	expect_stock("SKU-1", "\"quantity\":10}");
	expect_answer(call("POST", "/v1/misbehave", "", "{\"hang\":7}", CALL_MS), 400,
		"hang: no such value");
	ck_assert_uint_eq(call("POST", "/v1/misbehave", "", "{\"hang\":true}", CALL_MS), 400);
	misbehave("{\"fail-sku\":\"\"}");
	expect_answer(restore("r:1", "SKU-1", 2, CALL_MS), 200, "{\"code\":0,");
}
END_TEST

START_TEST(a_lost_answer_was_work_and_a_hanging_one_was_none)
{
	misbehave("{\"lose-answers\":1}");
	ck_assert_uint_eq(restore("r:1", "SKU-1", 2, CALL_MS), 0);
	misbehave("{\"lose-answers\":0,\"hang\":1}");
	ck_assert_uint_eq(restore("r:2", "SKU-1", 2, SHORT_MS), 0);
	expect_stock("SKU-1", "\"quantity\":12}");
	misbehave("{\"hang\":0}");
	expect_answer(restore("r:1", "SKU-1", 2, CALL_MS), 200, "applied before");
	expect_stock("SKU-1", "\"quantity\":12}");
}
END_TEST

static bool is_restored(void *context)
{
	(void)context;
	return restore("r:1", "SKU-1", 2, SHORT_MS) == 200;
}

START_TEST(without_its_database_it_answers_503_and_comes_back)
{
	proxy_refuse(proxy, true);
	proxy_cut(proxy);
	ck_assert_uint_eq(restore("r:1", "SKU-1", 2, CALL_MS), 503);
	proxy_refuse(proxy, false);
	WAIT_UNTIL(is_restored, NULL);
	expect_stock("SKU-1", "\"quantity\":12}");
	ck_assert(process_is_alive(stock));
}
END_TEST

START_TEST(a_killed_service_remembers_what_it_did)
{
	expect_answer(restore("r:1", "SKU-1", 2, CALL_MS), 200, "applied");
	process_kill(stock);
	start();
	expect_answer(restore("r:1", "SKU-1", 2, CALL_MS), 200, "applied before");
}
END_TEST

int main(void)
{
	static const struct runner_fixture fixture = { set_up, tear_down };
	const TTest *const tests[] = {
		a_restore_has_its_effect_once,
		a_list_is_answered_key_by_key,
		a_reserve_takes_what_there_is,
		a_bad_request_is_answered_400_and_moves_nothing,
		it_fails_and_lies_when_it_is_told_to,
		a_lost_answer_was_work_and_a_hanging_one_was_none,
		without_its_database_it_answers_503_and_comes_back,
		a_killed_service_remembers_what_it_did,
	};

	sandbox_need_servers();
	return runner_run_with("stock", &fixture, tests, ARRAY_LENGTH(tests));
}
