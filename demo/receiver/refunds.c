#include "demo/receiver/refunds.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/io/json.h"
#include "demo/receiver/book.h"
#include "demo/shared/reply.h"

enum {
	BODY_MAX = 16384,
	CURRENCY_LENGTH = 3,
	LIST_MAX = 1000,
};

static bool read_key(const struct json *object, const char *name, char *target, size_t target_size)
{
	const char *text = json_get_text(object, name);

	return text != NULL && text_is_key(text, strlen(text), target_size - 1) &&
	       text_copy(target, target_size, text);
}

static enum result read_refund(const struct json *root, struct refund *refund, struct error *error)
{
	if (!read_key(root, "idempotency_key", refund->key, sizeof(refund->key)) ||
		!read_key(root, "channel", refund->channel, sizeof(refund->channel)) ||
		!read_key(root, "trade_no", refund->trade_no, sizeof(refund->trade_no)) ||
		!read_key(root, "order_no", refund->order_no, sizeof(refund->order_no)))
		return error_set(RESULT_PERMANENT, error,
			"idempotency_key, channel, trade_no or order_no is missing or no key");
	if (!read_key(root, "currency", refund->currency, sizeof(refund->currency)) ||
		strlen(refund->currency) != CURRENCY_LENGTH)
		return error_set(RESULT_PERMANENT, error, "currency is not three letters");
	if (!json_get_int(root, "amount_cents", &refund->amount_cents) || refund->amount_cents <= 0)
		return error_set(
			RESULT_PERMANENT, error, "amount_cents is no whole number above 0");
	return RESULT_OK;
}

enum result refunds_read(
	const struct httpd_request *request, struct refund *refund_out, struct error *error)
{
	const char *header = httpd_header(request, "Idempotency-Key");
	struct json *root = NULL;

	memset(refund_out, 0, sizeof(*refund_out));
	enum result result = json_parse(request->body, request->body_size, BODY_MAX, &root, error);
	if (result == RESULT_OK)
		result = read_refund(root, refund_out, error);
	json_destroy(&root);
	if (result == RESULT_OK && (header == NULL || !text_equals(header, refund_out->key)))
		return error_set(RESULT_PERMANENT, error,
			"the header Idempotency-Key does not equal idempotency_key");
	return result;
}

static char *write_refund(const struct refund *refund)
{
	struct json *root = json_create_object();

	json_set_text(root, "idempotency_key", refund->key);
	json_set_text(root, "channel", refund->channel);
	json_set_text(root, "trade_no", refund->trade_no);
	json_set_text(root, "order_no", refund->order_no);
	json_set_int(root, "amount_cents", refund->amount_cents);
	json_set_text(root, "currency", refund->currency);
	char *text = json_write(root);
	json_destroy(&root);
	return text;
}

void refunds_give_back(struct book *book, const struct refund *refund, struct httpd_answer *answer)
{
	char *text = write_refund(refund);

	switch (book_enter(book, refund->key, refund->order_no, text, text)) {
	case BOOK_OUTCOME_NEW:
		reply(answer, 200, 0, "refunded");
		break;
	case BOOK_OUTCOME_REPEATED:
		reply(answer, 200, 0, "refunded before");
		break;
	case BOOK_OUTCOME_CHANGED:
		reply(answer, 409, 409, "the key stands for another refund");
		break;
	case BOOK_OUTCOME_FULL:
		reply(answer, 503, 503, "the book is full");
		break;
	}
	free(text);
}

struct json *refunds_describe(const struct book *book, const char *order_no, size_t after)
{
	struct json *root = json_create_object();
	struct json *list = json_create_array();

	json_set_int(root, "code", 0);
	json_set_int(root, "count", (int64_t)book_count(book));
	for (size_t i = after; i < book_count(book) && json_count(list) < LIST_MAX; i++) {
		const struct book_record *record = book_at(book, i);
		struct json *item = NULL;

		if (order_no != NULL && !text_equals(record->order_no, order_no))
			continue;
		enum result result =
			json_parse(record->note, strlen(record->note), BODY_MAX, &item, NULL);
		REQUIRE(result == RESULT_OK); /* it is what write_refund has written */
		json_set_int(item, "calls", (int64_t)record->calls);
		json_append_adopt(list, &item);
	}
	json_adopt(root, "refunds", &list);
	return root;
}
