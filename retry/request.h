/*
 * request - task into an HTTP request: address, headers, body.
 *
 * The body of a call is built from the row alone, so every call of a task carries the same key and
 * the same content.  A row of which no call can be made is refused with words; it is never called.
 */
#ifndef RETRY_REQUEST_H
#define RETRY_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/result.h"
#include "common/base/text.h"
#include "common/io/http.h"
#include "common/order/compensation_claim.h"

struct json;

/* Which call a target takes. */
enum request_form {
	REQUEST_FORM_RESTORE,
	REQUEST_FORM_RESTORES, /* many in one call */
	REQUEST_FORM_REFUND,
	REQUEST_FORM_WEBHOOK, /* see webhook.h */
};

/* What the calls of a kind look like, borrowed constants. */
struct request_shape {
	enum compensation_kind kind;
	const char *path;
};
extern const struct request_shape request_shapes[]; /* by enum request_form */

enum {
	REQUEST_URL_SIZE = HTTP_URL_MAX + 32,
	REQUEST_HEADER_MAX = 4,
	REQUEST_LINE_SIZE = TEXT_IDEMPOTENCY_KEY_SIZE + 32,
	REQUEST_LINE_MAX = 3,
};

struct request {
	char url[REQUEST_URL_SIZE];
	char lines[REQUEST_LINE_MAX][REQUEST_LINE_SIZE]; /* headers that are not constant */
	const char *headers[REQUEST_HEADER_MAX + 1];
	char *body; /* owned */
	size_t body_size;
};

/*
 * What the call of one task carries; PERMANENT, with the reason, when its row is not what this kind
 * of call needs.  The caller owns item_out.
 */
MUST_USE enum result request_create_item(enum request_form form,
	const struct compensation_task *task, struct json **item_out, struct error *error);
/* Equal for items that fail together when it is not the host that is unwell: those of one SKU. */
uint64_t request_hash_subject(const struct json *item);
/* The call for these items, one unless the form takes many; takes them over. */
void request_create(enum request_form form, const char *base_url, struct json **items_adopt,
	size_t count, struct request *request_out);
void request_clear(struct request *request);

#endif
