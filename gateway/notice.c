#include "gateway/notice.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/io/json.h"
#include "common/io/signature.h"

enum {
	BODY_MAX = 65536,
	HEADER_MAX = 1024,
	TIME_SIZE = 24,
};

#define AMOUNT_MAX INT64_C(9007199254740991)

static char *write_signed_text(
	const char *time, const char *body, size_t body_size, size_t *size_out)
{
	size_t head_size = strlen(time) + 1;
	char *text = memory_allocate(head_size + body_size + 1);

	(void)text_format(text, head_size + 1, "%s.", time);
	memcpy(text + head_size, body, body_size);
	*size_out = head_size + body_size;
	return text;
}

static bool is_fresh(const char *time, uint64_t now_s)
{
	uint64_t seconds = 0;

	if (!text_parse_uint(time, 1, UINT64_MAX / 2, &seconds))
		return false;
	return seconds + NOTICE_TOLERANCE_S >= now_s && seconds <= now_s + NOTICE_TOLERANCE_S;
}

/* The value of the next "name=" part behind *place, which moves on; false: no more. */
static bool next_part(const char **place, const char *name, char *value, size_t value_size)
{
	size_t name_length = strlen(name);

	while (**place != '\0') {
		size_t size = strcspn(*place, ",");
		const char *part = *place;

		*place += size + ((*place)[size] == ',' ? 1 : 0);
		if (size <= name_length || memcmp(part, name, name_length) != 0)
			continue;
		if (size - name_length >= value_size)
			continue;
		memcpy(value, part + name_length, size - name_length);
		value[size - name_length] = '\0';
		return true;
	}
	return false;
}

static bool has_signature(const char *header, const char *expected)
{
	const char *place = header;
	char given[SIGNATURE_HEX_SIZE];
	bool is_found = false;

	while (next_part(&place, "v1=", given, sizeof(given)))
		if (strlen(given) == SIGNATURE_HEX_SIZE - 1 &&
			signature_equals(given, expected, SIGNATURE_HEX_SIZE - 1))
			is_found = true;
	return is_found;
}

bool notice_is_signed(const char *header, const char *body, size_t body_size,
	const struct notice_secrets *secrets, uint64_t now_s)
{
	const char *const keys[] = { secrets->current, secrets->old };
	const char *place = header;
	char time[TIME_SIZE];
	bool is_signed = false;
	size_t size = 0;

	if (header == NULL || strlen(header) > HEADER_MAX ||
		!next_part(&place, "t=", time, sizeof(time)) || !is_fresh(time, now_s))
		return false;
	char *text = write_signed_text(time, body, body_size, &size);
	for (size_t i = 0; i < ARRAY_LENGTH(keys); i++) {
		char expected[SIGNATURE_HEX_SIZE];

		if (keys[i] == NULL)
			continue;
		signature_hex(expected, keys[i], strlen(keys[i]), text, size);
		is_signed = has_signature(header, expected) || is_signed;
	}
	free(text);
	return is_signed;
}

static enum result copy_key(const struct json *root, const char *name, char *target,
	size_t target_size, struct error *error)
{
	const char *text = json_get_text(root, name);

	if (text == NULL || !text_is_key(text, strlen(text), target_size - 1))
		return error_set(RESULT_PERMANENT, error,
			"%s must be 1 to %d characters of A-Z a-z 0-9 . _ : -", name,
			(int)target_size - 1);
	(void)text_copy(target, target_size, text);
	return RESULT_OK;
}

/* Optional or free text: only its size is asked for. */
static enum result copy_text(const struct json *root, const char *name, char *target,
	size_t target_size, struct error *error)
{
	const char *text = json_get_text(root, name);

	if (json_get(root, name) == NULL)
		text = "";
	if (text == NULL || !text_copy(target, target_size, text))
		return error_set(RESULT_PERMANENT, error, "%s must be a text of at most %d bytes",
			name, (int)target_size - 1);
	return RESULT_OK;
}

static bool is_currency(const char *text)
{
	return strlen(text) == 3 && strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == 3;
}

static enum result read_money(
	const struct json *root, struct payment_notice *payment, struct error *error)
{
	enum result result =
		copy_text(root, "currency", payment->currency, sizeof(payment->currency), error);

	if (result != RESULT_OK || !is_currency(payment->currency))
		return error_set(RESULT_PERMANENT, error, "currency must be three capital letters");
	if (!json_get_int(root, "amount_cents", &payment->amount_cents) ||
		payment->amount_cents < 0 || payment->amount_cents > AMOUNT_MAX)
		return error_set(RESULT_PERMANENT, error,
			"amount_cents must be a whole number of cents, 0 or more");
	return RESULT_OK;
}

static enum result read_payment(
	const struct json *root, struct payment_notice *payment, struct error *error)
{
	enum result result =
		copy_key(root, "channel", payment->channel, sizeof(payment->channel), error);

	if (result == RESULT_OK && !payment_is_channel(payment->channel))
		result = error_set(RESULT_PERMANENT, error, "channel must have no colon");
	if (result == RESULT_OK)
		result = copy_key(
			root, "trade_no", payment->trade_no, sizeof(payment->trade_no), error);
	if (result == RESULT_OK)
		result = copy_key(
			root, "order_no", payment->order_no, sizeof(payment->order_no), error);
	return result == RESULT_OK ? read_money(root, payment, error) : result;
}

/* What only other states lack or have in another form is no mistake: they change nothing. */
static enum result read_root(const struct json *root, struct notice *notice, struct error *error)
{
	const char *state = json_get_text(root, "state");

	if (!json_is_object(root))
		return error_set(RESULT_PERMANENT, error, "the body must be a JSON object");
	if (state == NULL)
		return error_set(RESULT_PERMANENT, error, "state must be a text");
	notice->is_paid = text_equals(state, "paid");
	(void)text_clip(notice->state, sizeof(notice->state), state, strlen(state));
	enum result result = copy_text(
		root, "merchant_id", notice->merchant_id, sizeof(notice->merchant_id), error);
	if (result != RESULT_OK)
		return result;
	result = read_payment(root, &notice->payment, error);
	return notice->is_paid ? result : RESULT_OK;
}

enum result notice_read(
	const char *body, size_t body_size, struct notice *notice_out, struct error *error)
{
	struct json *root = NULL;
	enum result result = json_parse(body, body_size, BODY_MAX, &root, error);

	memset(notice_out, 0, sizeof(*notice_out));
	if (result == RESULT_OK)
		result = read_root(root, notice_out, error);
	json_destroy(&root);
	return result;
}
