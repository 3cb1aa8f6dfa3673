#include "demo/stock/request.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/io/httpd.h"
#include "common/io/json.h"
#include "demo/shared/reply.h"

enum {
	BODY_MAX = 1048576
};

struct verdict {
	unsigned int status; /* of a single movement; a list is always answered 200 */
	int code;
	const char *message;
};

static const struct verdict verdicts[] = {
	[LEDGER_OUTCOME_OPEN] = { 200, REQUEST_CODE_REFUSED, "not tried" },
	[LEDGER_OUTCOME_APPLIED] = { 200, REQUEST_CODE_OK, "applied" },
	[LEDGER_OUTCOME_REPEATED] = { 200, REQUEST_CODE_OK, "applied before" },
	[LEDGER_OUTCOME_SHORT] = { 200, REQUEST_CODE_SHORT, "not enough in stock" },
	[LEDGER_OUTCOME_UNKNOWN_SKU] = { 200, REQUEST_CODE_UNKNOWN_SKU, "unknown SKU" },
	[LEDGER_OUTCOME_REUSED] = { 409, REQUEST_CODE_REUSED, "the key stands for something else" },
};

static_assert(ARRAY_LENGTH(verdicts) == LEDGER_OUTCOME_REUSED + 1, "one per outcome");

static bool read_key(const struct json *object, const char *name, char *target, size_t target_size)
{
	const char *text = json_get_text(object, name);

	return text != NULL && text_is_key(text, strlen(text), target_size - 1) &&
	       text_copy(target, target_size, text);
}

static enum result read_move(
	const struct json *object, struct ledger_move *move, struct error *error)
{
	int64_t quantity = 0;

	if (!json_is_object(object))
		return error_set(RESULT_PERMANENT, error, "a movement is no object");
	if (!read_key(object, "idempotency_key", move->key, sizeof(move->key)))
		return error_set(RESULT_PERMANENT, error, "idempotency_key is missing or no key");
	if (!read_key(object, "order_no", move->order_no, sizeof(move->order_no)))
		return error_set(RESULT_PERMANENT, error, "order_no is missing or no key");
	if (!read_key(object, "sku_id", move->sku_id, sizeof(move->sku_id)))
		return error_set(RESULT_PERMANENT, error, "sku_id is missing or no key");
	if (!json_get_int(object, "quantity", &quantity) || quantity < 1 || quantity > UINT32_MAX)
		return error_set(RESULT_PERMANENT, error,
			"quantity is missing or no whole number from 1 to 4294967295");
	move->quantity = (uint32_t)quantity;
	return RESULT_OK;
}

static enum result read_list(const struct json *list, struct request *request, struct error *error)
{
	enum result result = RESULT_OK;

	request->is_batch = true;
	request->count = json_count(list);
	if (request->count == 0 || request->count > LEDGER_MOVE_MAX)
		return error_set(RESULT_PERMANENT, error, "the list has not 1 to %d entries",
			LEDGER_MOVE_MAX);
	request->moves = memory_allocate_array(request->count, sizeof(*request->moves));
	for (size_t i = 0; i < request->count && result == RESULT_OK; i++)
		result = error_context(read_move(json_at(list, i), &request->moves[i], error),
			error, "entry %zu", i);
	return result;
}

static enum result read_single(const struct httpd_request *http, const struct json *root,
	struct request *request, struct error *error)
{
	const char *header = httpd_header(http, "Idempotency-Key");

	request->count = 1;
	request->moves = memory_allocate_array(1, sizeof(*request->moves));
	enum result result = read_move(root, request->moves, error);
	if (result == RESULT_OK && (header == NULL || !text_equals(header, request->moves->key)))
		return error_set(RESULT_PERMANENT, error,
			"the header Idempotency-Key does not equal idempotency_key");
	return result;
}

enum result request_read(const struct httpd_request *http, const char *list_name,
	struct request *request_out, struct error *error)
{
	struct json *root = NULL;

	*request_out = (struct request){ 0 };
	enum result result = json_parse(http->body, http->body_size, BODY_MAX, &root, error);
	if (result != RESULT_OK)
		return result;
	const struct json *list = json_get(root, list_name);
	result = list != NULL ? read_list(list, request_out, error)
			      : read_single(http, root, request_out, error);
	json_destroy(&root);
	return result;
}

void request_clear(struct request *request)
{
	free(request->moves);
	*request = (struct request){ 0 };
}

void request_answer_outcomes(struct httpd_answer *answer, const struct request *request)
{
	if (!request->is_batch) {
		const struct verdict *verdict = &verdicts[request->moves[0].outcome];

		reply(answer, verdict->status, verdict->code, verdict->message);
		return;
	}
	struct json *root = json_create_object();
	struct json *results = json_create_array();
	for (size_t i = 0; i < request->count; i++) {
		const struct verdict *verdict = &verdicts[request->moves[i].outcome];
		struct json *entry = json_create_object();

		json_set_text(entry, "idempotency_key", request->moves[i].key);
		json_set_int(entry, "code", verdict->code);
		if (verdict->code != REQUEST_CODE_OK)
			json_set_text(entry, "message", verdict->message);
		json_append_adopt(results, &entry);
	}
	json_set_int(root, "code", REQUEST_CODE_OK);
	json_adopt(root, "results", &results);
	reply_json(answer, 200, &root);
}
