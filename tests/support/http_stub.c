#include "tests/support/http_stub.h"

#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include <check.h>

#include "common/base/memory.h"
#include "common/base/text.h"
#include "tests/support/http_stub_board.h"
#include "tests/support/listener.h"
#include "tests/support/runner.h"
#include "tests/support/shared.h"
#include "tests/support/wait_until.h"

struct http_stub {
	struct board *board;
	uint16_t port;
	pid_t server;
};

static void lock(struct http_stub *stub)
{
	(void)pthread_mutex_lock(&stub->board->lock);
}

static void unlock(struct http_stub *stub)
{
	(void)pthread_mutex_unlock(&stub->board->lock);
}

void http_stub_create(struct http_stub **stub_out)
{
	struct http_stub *stub = memory_allocate(sizeof(*stub));
	struct stub_site site = { 0 };
	pthread_mutexattr_t attributes;

	*stub_out = stub;
	stub->board = shared_create(sizeof(*stub->board));
	stub->board->seed = runner_random(UINT64_MAX);
	(void)pthread_mutexattr_init(&attributes);
	(void)pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
	(void)pthread_mutex_init(&stub->board->lock, &attributes);
	(void)pthread_mutexattr_destroy(&attributes);
	site.board = stub->board;
	site.listener = listener_open(&site.port);
	ck_assert_int_ge(site.listener, 0);
	stub->port = site.port;
	stub->server = shared_fork(stub_serve, &site);
	(void)close(site.listener);
}

void http_stub_destroy(struct http_stub **stub)
{
	if (*stub == NULL)
		return;
	shared_end((*stub)->server);
	shared_destroy((*stub)->board, sizeof(*(*stub)->board));
	free(*stub);
	*stub = NULL;
}

void http_stub_format_url(const struct http_stub *stub, char url[HTTP_STUB_URL_SIZE])
{
	(void)text_format(url, HTTP_STUB_URL_SIZE, "http://127.0.0.1:%u", stub->port);
}

static struct board_rule *find_rule(struct board *board, const char *sku_id)
{
	struct board_rule *free_one = NULL;

	for (size_t i = 0; i < BOARD_RULES; i++) {
		struct board_rule *rule = &board->rules[i];

		if (rule->is_set && text_equals(rule->sku_id, sku_id))
			return rule;
		if (!rule->is_set && free_one == NULL)
			free_one = rule;
	}
	return free_one;
}

void http_stub_set_rule(struct http_stub *stub, const struct http_stub_rule *rule)
{
	lock(stub);
	struct board_rule *place = find_rule(stub->board, rule->sku_id);
	if (place != NULL) {
		place->is_set = true;
		place->used = 0;
		place->rule = *rule;
		(void)text_copy(place->sku_id, sizeof(place->sku_id), rule->sku_id);
		(void)text_copy(
			place->text, sizeof(place->text), rule->text == NULL ? "" : rule->text);
	}
	unlock(stub);
	ck_assert_msg(place != NULL, "too many rules");
}

void http_stub_drop_rules(struct http_stub *stub)
{
	lock(stub);
	memset(stub->board->rules, 0, sizeof(stub->board->rules));
	unlock(stub);
}

static bool is_refused(void *context)
{
	struct board *board = context;

	return atomic_load(&board->is_refused) == atomic_load(&board->is_refusing);
}

void http_stub_refuse(struct http_stub *stub, bool is_on)
{
	atomic_store(&stub->board->is_refusing, is_on);
	WAIT_UNTIL(is_refused, stub->board);
}

void http_stub_accept_path(struct http_stub *stub, const char *path)
{
	bool is_kept = false;

	lock(stub);
	for (size_t i = 0; i < BOARD_PATHS && !is_kept; i++)
		if (stub->board->paths[i][0] == '\0')
			is_kept = text_copy(stub->board->paths[i], HTTP_STUB_TEXT_SIZE, path);
	unlock(stub);
	ck_assert(is_kept);
}

bool http_stub_find(struct http_stub *stub, const char *key, struct http_stub_key *key_out)
{
	lock(stub);
	*key_out = stub->board->keys[board_find_key(stub->board, key)];
	unlock(stub);
	return key_out->key[0] != '\0';
}

static uint64_t read_number(struct http_stub *stub, const uint64_t *number)
{
	lock(stub);
	uint64_t value = *number;
	unlock(stub);
	return value;
}

uint64_t http_stub_count_keys(struct http_stub *stub)
{
	return read_number(stub, &stub->board->key_count);
}

uint64_t http_stub_count_calls(struct http_stub *stub)
{
	return read_number(stub, &stub->board->calls);
}

uint64_t http_stub_max_in_flight(struct http_stub *stub)
{
	return read_number(stub, &stub->board->max_in_flight);
}

uint64_t http_stub_count_bodies(struct http_stub *stub)
{
	return read_number(stub, &stub->board->bodies);
}

struct totals {
	uint64_t most_calls;
	uint64_t changed;
	uint64_t effects;
	uint64_t sum;
};

static struct totals sum_up(struct http_stub *stub, const char *sku_id)
{
	struct totals totals = { 0 };

	lock(stub);
	for (size_t i = 0; i < BOARD_KEYS; i++) {
		const struct http_stub_key *key = &stub->board->keys[i];

		if (key->key[0] == '\0')
			continue;
		if (key->calls > totals.most_calls)
			totals.most_calls = key->calls;
		totals.changed += key->has_changed ? 1 : 0;
		totals.effects += key->effects;
		if (sku_id[0] == '\0' || text_equals(sku_id, key->sku_id))
			totals.sum += key->effects * key->quantity;
	}
	unlock(stub);
	return totals;
}

uint64_t http_stub_most_calls(struct http_stub *stub)
{
	return sum_up(stub, "").most_calls;
}

uint64_t http_stub_count_changed(struct http_stub *stub)
{
	return sum_up(stub, "").changed;
}

uint64_t http_stub_count_effects(struct http_stub *stub)
{
	return sum_up(stub, "").effects;
}

uint64_t http_stub_sum_effects(struct http_stub *stub, const char *sku_id)
{
	return sum_up(stub, sku_id).sum;
}

uint64_t http_stub_count_strange(struct http_stub *stub, char last_out[HTTP_STUB_TEXT_SIZE])
{
	lock(stub);
	uint64_t count = stub->board->strange;
	if (last_out != NULL)
		(void)text_copy(last_out, HTTP_STUB_TEXT_SIZE, stub->board->last_strange);
	unlock(stub);
	return count;
}

/* What was kept of a request; false when it is not kept (any more). */
static bool copy_kept(
	struct http_stub *stub, uint64_t index, char *head, char *body, uint64_t *time_ms)
{
	lock(stub);
	const struct board *board = stub->board;
	size_t place = index % BOARD_BODIES;
	bool is_kept = index < board->bodies && board->bodies - index <= BOARD_BODIES;
	if (is_kept && head != NULL)
		(void)text_copy(head, HTTP_STUB_HEAD_SIZE, board->head[place]);
	if (is_kept && body != NULL)
		(void)text_copy(body, HTTP_STUB_BODY_SIZE, board->body[place]);
	if (is_kept && time_ms != NULL)
		*time_ms = board->body_times_ms[place];
	unlock(stub);
	return is_kept;
}

bool http_stub_get_body(struct http_stub *stub, uint64_t index, char body_out[HTTP_STUB_BODY_SIZE])
{
	return copy_kept(stub, index, NULL, body_out, NULL);
}

bool http_stub_get_head(struct http_stub *stub, uint64_t index, char head_out[HTTP_STUB_HEAD_SIZE])
{
	return copy_kept(stub, index, head_out, NULL, NULL);
}

uint64_t http_stub_get_time(struct http_stub *stub, uint64_t index)
{
	uint64_t time_ms = 0;

	(void)copy_kept(stub, index, NULL, NULL, &time_ms);
	return time_ms;
}
