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

static void sign(const struct httpd_request *request, const char *time, const char *secret,
	char signature[SIGNATURE_HEX_SIZE])
{
	size_t time_size = strlen(time);
	char *text = memory_allocate(time_size + 1 + request->body_size);

	memcpy(text, time, time_size + 1);
	text[time_size] = '.';
	memcpy(text + time_size + 1, request->body, request->body_size);
	signature_hex(signature, secret, strlen(secret), text, time_size + 1 + request->body_size);
	free(text);
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

bool notice_is_signed(const struct httpd_request *request, const char *secret,
	const char *secret_old, uint64_t now_s)
{
	const char *const secrets[] = { secret, secret_old };
	const char *header = httpd_header(request, "X-Lapse-Signature");
	const char *place = header;
	char time[TIME_SIZE];
	bool is_signed = false;

	if (header == NULL || strlen(header) > HEADER_MAX ||
		!next_part(&place, "t=", time, sizeof(time)) || !is_fresh(time, now_s))
		return false;
	for (size_t i = 0; i < ARRAY_LENGTH(secrets); i++) {
		char expected[SIGNATURE_HEX_SIZE];

		if (secrets[i] == NULL)
			continue;
		sign(request, time, secrets[i], expected);
		is_signed = has_signature(header, expected) || is_signed;
	}
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

static enum result read_payment(
	const struct json *root, struct payment_notice *payment, struct error *error)
{
	enum result result =
		copy_key(root, "channel", payment->channel, sizeof(payment->channel), error);

	if (result == RESULT_OK)
		result = copy_key(
			root, "trade_no", payment->trade_no, sizeof(payment->trade_no), error);
	if (result == RESULT_OK)
		result = copy_key(
			root, "order_no", payment->order_no, sizeof(payment->order_no), error);
	if (result == RESULT_OK)
		result = copy_key(
			root, "currency", payment->currency, sizeof(payment->currency), error);
	if (result == RESULT_OK && strlen(payment->currency) != 3)
		result = error_set(
			RESULT_PERMANENT, error, "currency must be three capital letters");
	if (result == RESULT_OK &&
		(!json_get_int(root, "amount_cents", &payment->amount_cents) ||
			payment->amount_cents < 0 || payment->amount_cents > AMOUNT_MAX))
		result = error_set(RESULT_PERMANENT, error,
			"amount_cents must be a whole number of cents, 0 or more");
	return result;
}

enum result notice_read(
	const struct httpd_request *request, struct notice *notice_out, struct error *error)
{
	struct json *root = NULL;
	enum result result = json_parse(request->body, request->body_size, BODY_MAX, &root, error);

	memset(notice_out, 0, sizeof(*notice_out));
	if (result == RESULT_OK && !json_is_object(root))
		result = error_set(RESULT_PERMANENT, error, "the body must be a JSON object");
	if (result == RESULT_OK)
		result = copy_key(
			root, "state", notice_out->state, sizeof(notice_out->state), error);
	if (result == RESULT_OK)
		result = copy_text(root, "merchant_id", notice_out->merchant_id,
			sizeof(notice_out->merchant_id), error);
	if (result == RESULT_OK)
		result = read_payment(root, &notice_out->payment, error);
	json_destroy(&root);
	return result;
}
