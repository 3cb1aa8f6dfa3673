#include "tests/support/http_stub_board.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/base/text.h"

enum {
	RESULTS_SIZE = 1048576
};

/* One object of a request's body. */
struct item {
	char key[HTTP_STUB_KEY_SIZE];
	char order_no[HTTP_STUB_SKU_SIZE];
	char sku_id[HTTP_STUB_SKU_SIZE];
	uint64_t quantity;
};

/* FNV-1a (Fowler, Noll and Vo). */
static uint64_t hash_text(const char *text)
{
	uint64_t hash = UINT64_C(14695981039346656037);

	for (; *text != '\0'; text++)
		hash = (hash ^ (unsigned char)*text) * UINT64_C(1099511628211);
	return hash;
}

size_t board_find_key(const struct board *board, const char *key)
{
	size_t place = hash_text(key) & (BOARD_KEYS - 1);

	while (board->keys[place].key[0] != '\0' && !text_equals(board->keys[place].key, key))
		place = (place + 1) & (BOARD_KEYS - 1);
	return place;
}

static bool has_chance(struct board *board, uint32_t per_mille)
{
	board->seed = board->seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return per_mille == 0 || (board->seed >> 33) % 1000 < per_mille;
}

static struct board_rule *find_rule(struct board *board, const char *sku_id)
{
	for (size_t i = 0; i < BOARD_RULES; i++)
		if (board->rules[i].is_set && text_equals(board->rules[i].sku_id, sku_id))
			return &board->rules[i];
	return NULL;
}

/* The rule that holds for this call now, or NULL. */
static const struct board_rule *use_rule(struct board *board, const char *sku_id)
{
	struct board_rule *found = find_rule(board, sku_id);

	if (found == NULL)
		found = find_rule(board, "");
	if (found == NULL || (found->rule.times > 0 && found->used >= found->rule.times) ||
		!has_chance(board, found->rule.per_mille))
		return NULL;
	found->used++;
	return found;
}

/* Copies the text value of a field of one flat object; keys of the contract need no unescaping. */
static bool read_text(
	const char *object, const char *end, const char *field, char *target, size_t target_size)
{
	char name[64];
	size_t size = 0;

	target[0] = '\0';
	(void)text_format(name, sizeof(name), "\"%s\"", field);
	const char *place = strstr(object, name);
	if (place == NULL || place >= end)
		return false;
	place += strlen(name);
	place += strspn(place, " :\t\r\n");
	if (*place != '"')
		return false;
	for (place++; place < end && *place != '"' && size + 1 < target_size; place++)
		target[size++] = *place;
	target[size] = '\0';
	return true;
}

static bool read_count(const char *object, const char *end, const char *field, uint64_t *count_out)
{
	char name[64];

	(void)text_format(name, sizeof(name), "\"%s\"", field);
	const char *place = strstr(object, name);
	if (place == NULL || place >= end)
		return false;
	place += strlen(name);
	place += strspn(place, " :\t\r\n");
	*count_out = strtoull(place, NULL, 10);
	return *place >= '0' && *place <= '9';
}

static bool read_item(const char *object, const char *end, struct item *item)
{
	return read_text(object, end, "idempotency_key", item->key, sizeof(item->key)) &&
	       read_text(object, end, "order_no", item->order_no, sizeof(item->order_no)) &&
	       read_text(object, end, "sku_id", item->sku_id, sizeof(item->sku_id)) &&
	       read_count(object, end, "quantity", &item->quantity) && item->key[0] != '\0';
}

static void note_strange(struct board *board, const char *what, const char *detail)
{
	board->strange++;
	(void)text_format(
		board->last_strange, sizeof(board->last_strange), "%s: %.200s", what, detail);
}

static void record_call(struct board *board, const struct item *item)
{
	size_t place = board_find_key(board, item->key);
	struct http_stub_key *known = &board->keys[place];
	char content[3 * HTTP_STUB_SKU_SIZE];

	(void)text_format(content, sizeof(content), "%s %s %" PRIu64, item->order_no, item->sku_id,
		item->quantity);
	uint64_t hash = hash_text(content);
	if (known->key[0] == '\0') {
		(void)text_copy(known->key, sizeof(known->key), item->key);
		(void)text_copy(known->sku_id, sizeof(known->sku_id), item->sku_id);
		known->quantity = item->quantity;
		board->key_hashes[place] = hash;
		board->key_count++;
	}
	if (board->key_hashes[place] != hash)
		known->has_changed = true;
	if (known->calls < HTTP_STUB_TIMES)
		known->times_ms[known->calls] = clock_now_ms();
	known->calls++;
}

static void apply(struct board *board, const char *key)
{
	board->keys[board_find_key(board, key)].effects = 1;
}

static char *write_answer(unsigned int status, const char *headers, const char *body)
{
	size_t size = strlen(headers) + strlen(body) + 256;
	char *text = memory_allocate(size);

	(void)text_format(text, size,
		"HTTP/1.1 %u Word\r\nContent-Type: application/json\r\n%sContent-Length: %zu\r\n"
		"\r\n%s",
		status, headers, strlen(body), body);
	return text;
}

static bool has_effect(enum http_stub_mode mode)
{
	return mode == HTTP_STUB_OK || mode == HTTP_STUB_TRICKLE || mode == HTTP_STUB_ANSWER_LOST ||
	       mode == HTTP_STUB_MISSING;
}

/* Fills the answer to a call that a rule is about. */
static void answer_by_rule(const struct board_rule *rule, struct board_answer *answer)
{
	char headers[HTTP_STUB_TEXT_SIZE + 32] = "";
	char body[64] = "";

	answer->delay_ms = rule->rule.delay_ms;
	switch (rule->rule.mode) {
	case HTTP_STUB_STATUS:
		if (rule->rule.retry_after_s > 0)
			(void)text_format(headers, sizeof(headers), "Retry-After: %" PRIu32 "\r\n",
				rule->rule.retry_after_s);
		answer->text = write_answer(rule->rule.status, headers, "{\"code\":1}");
		return;
	case HTTP_STUB_CODE:
		(void)text_format(body, sizeof(body), "{\"code\":%d}", rule->rule.code);
		answer->text = write_answer(200, "", body);
		return;
	case HTTP_STUB_TEXT:
		answer->text = write_answer(200, "", rule->text);
		return;
	case HTTP_STUB_REDIRECT:
		(void)text_format(headers, sizeof(headers), "Location: %s\r\n", rule->text);
		answer->text = write_answer(302, headers, "");
		return;
	case HTTP_STUB_HANG:
	case HTTP_STUB_CUT:
	case HTTP_STUB_ANSWER_LOST:
	case HTTP_STUB_ENDLESS:
		answer->mode = rule->rule.mode;
		return;
	case HTTP_STUB_TRICKLE:
		answer->mode = HTTP_STUB_TRICKLE;
		answer->text = write_answer(200, "", "{\"code\":0}");
		return;
	case HTTP_STUB_OK:
	case HTTP_STUB_MISSING:
		answer->text = write_answer(200, "", "{\"code\":0}");
		return;
	}
}

static void judge_single(struct board *board, const char *body, struct board_answer *answer)
{
	struct item item;

	if (!read_item(body, body + strlen(body), &item)) {
		note_strange(board, "body", body);
		answer->text = write_answer(400, "", "{\"code\":400}");
		return;
	}
	record_call(board, &item);
	const struct board_rule *rule = use_rule(board, item.sku_id);
	if (rule == NULL || has_effect(rule->rule.mode))
		apply(board, item.key);
	if (rule == NULL)
		answer->text = write_answer(200, "", "{\"code\":0}");
	else
		answer_by_rule(rule, answer);
}

/* Modes that are about a whole answer, not about one result in it. */
static bool is_about_all(enum http_stub_mode mode)
{
	return mode != HTTP_STUB_OK && mode != HTTP_STUB_CODE && mode != HTTP_STUB_MISSING &&
	       mode != HTTP_STUB_STATUS;
}

static void add_result(char *results, const struct item *item, int code)
{
	size_t used = strlen(results);

	(void)text_format(results + used, RESULTS_SIZE - used,
		"%s{\"idempotency_key\":\"%s\",\"code\":%d}", used == 0 ? "" : ",", item->key,
		code);
}

/* One item of a batch; gives the rule when it is about the whole answer. */
static const struct board_rule *judge_item(
	struct board *board, const struct item *item, char *results)
{
	record_call(board, item);
	const struct board_rule *rule = use_rule(board, item->sku_id);
	enum http_stub_mode mode = rule == NULL ? HTTP_STUB_OK : rule->rule.mode;
	bool is_whole = rule != NULL && (is_about_all(mode) || rule->sku_id[0] == '\0');

	if (has_effect(mode))
		apply(board, item->key);
	if (is_whole && mode != HTTP_STUB_OK && mode != HTTP_STUB_MISSING)
		return rule;
	if (mode == HTTP_STUB_CODE || mode == HTTP_STUB_STATUS)
		add_result(results, item,
			mode == HTTP_STUB_CODE ? rule->rule.code : (int)rule->rule.status);
	else if (mode != HTTP_STUB_MISSING)
		add_result(results, item, 0);
	return NULL;
}

static void judge_batch(struct board *board, const char *body, struct board_answer *answer)
{
	char *results = memory_allocate(RESULTS_SIZE);
	char *whole = memory_allocate(RESULTS_SIZE + 64);
	const struct board_rule *about_all = NULL;
	struct item item;

	for (const char *place = strchr(body, '['); place != NULL;) {
		const char *end = strchr(place, '}');

		if (end == NULL)
			break;
		if (read_item(place, end, &item)) {
			const struct board_rule *rule = judge_item(board, &item, results);

			about_all = rule == NULL ? about_all : rule;
		} else {
			note_strange(board, "item", place);
		}
		place = strchr(end, '{');
	}
	(void)text_format(whole, RESULTS_SIZE + 64, "{\"code\":0,\"results\":[%s]}", results);
	if (about_all == NULL)
		answer->text = write_answer(200, "", whole);
	else
		answer_by_rule(about_all, answer);
	free(results);
	free(whole);
}

/* Finds a header's value in a NUL-terminated head. */
static bool read_header(const char *head, const char *name, char *value, size_t value_size)
{
	size_t length = strlen(name);

	for (const char *line = strstr(head, "\r\n"); line != NULL; line = strstr(line, "\r\n")) {
		line += 2;
		if (strncasecmp(line, name, length) != 0 || line[length] != ':')
			continue;
		const char *start = line + length + 1 + strspn(line + length + 1, " ");
		size_t size = strcspn(start, "\r\n");

		if (size >= value_size)
			return false;
		memcpy(value, start, size);
		value[size] = '\0';
		return true;
	}
	return false;
}

static bool is_accepted(const struct board *board, const char *head)
{
	char line[HTTP_STUB_TEXT_SIZE + 16];

	for (size_t i = 0; i < BOARD_PATHS && board->paths[i][0] != '\0'; i++) {
		(void)text_format(line, sizeof(line), "POST %s", board->paths[i]);
		if (text_starts_with(head, line) &&
			(head[strlen(line)] == ' ' || head[strlen(line)] == '?'))
			return true;
	}
	return false;
}

static void record_body(
	struct board *board, const char *head, const char *body, struct board_answer *answer)
{
	const struct board_rule *rule = use_rule(board, "");
	size_t place = board->bodies++ % BOARD_BODIES;

	(void)text_copy(board->head[place], HTTP_STUB_HEAD_SIZE, head);
	(void)text_copy(board->body[place], HTTP_STUB_BODY_SIZE, body);
	board->body_times_ms[place] = clock_now_ms();
	/* Robots of every kind are pleased with this. */
	if (rule == NULL)
		answer->text = write_answer(200, "", "{\"code\":0,\"errcode\":0}");
	else
		answer_by_rule(rule, answer);
}

static void judge_restore(
	struct board *board, const char *head, const char *body, struct board_answer *answer)
{
	char key[HTTP_STUB_KEY_SIZE] = "";
	char type[HTTP_STUB_TEXT_SIZE] = "";
	char wanted[HTTP_STUB_KEY_SIZE + 8];

	if (!read_header(head, "Content-Type", type, sizeof(type)) ||
		!text_starts_with(type, "application/json"))
		note_strange(board, "content type", type);
	if (strstr(body, "\"restores\"") != NULL) {
		judge_batch(board, body, answer);
		return;
	}
	(void)read_header(head, "Idempotency-Key", key, sizeof(key));
	(void)text_format(wanted, sizeof(wanted), "\"%s\"", key);
	if (key[0] == '\0' || strstr(body, wanted) == NULL)
		note_strange(board, "Idempotency-Key is not that of the body", key);
	judge_single(board, body, answer);
}

void board_judge(
	struct board *board, const struct board_request *request, struct board_answer *answer_out)
{
	char *head = memory_copy_bytes(request->head, request->head_size);
	char *body = memory_copy_bytes(request->body, request->body_size);

	*answer_out = (struct board_answer){ .mode = HTTP_STUB_OK };
	(void)pthread_mutex_lock(&board->lock);
	board->calls++;
	board->in_flight++;
	if (board->in_flight > board->max_in_flight)
		board->max_in_flight = board->in_flight;
	if (is_accepted(board, head)) {
		record_body(board, head, body, answer_out);
	} else if (text_starts_with(head, "POST /v1/stock/restores HTTP/1.1")) {
		judge_restore(board, head, body, answer_out);
	} else {
		note_strange(board, "request", head);
		answer_out->text = write_answer(404, "", "{\"code\":404}");
	}
	(void)pthread_mutex_unlock(&board->lock);
	free(head);
	free(body);
}
