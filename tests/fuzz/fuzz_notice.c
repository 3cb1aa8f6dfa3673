/*
 * notice: the first line is the signature header, the rest the body.  Nothing signs itself; every
 * body can be signed; what was read of a payment are keys.
 */
#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/io/signature.h"
#include "gateway/notice.h"
#include "tests/fuzz/fuzz.h"

#define SECRET "the secret of the fuzzer"
#define TIME   "1769853600"
#define NOW_S  UINT64_C(1769853600)

static const struct notice_secrets secrets = { SECRET, "the secret before that" };

static void sign_and_check(const char *body, size_t size)
{
	char header[128];
	char digits[SIGNATURE_HEX_SIZE];
	size_t text_size = strlen(TIME ".") + size;
	char *text = memory_allocate(text_size + 1);

	memcpy(text, TIME ".", strlen(TIME "."));
	memcpy(text + strlen(TIME "."), body, size);
	signature_hex(digits, SECRET, strlen(SECRET), text, text_size);
	(void)text_format(header, sizeof(header), "t=" TIME ",v1=%s", digits);
	REQUIRE(notice_is_signed(header, body, size, &secrets, NOW_S));
	digits[0] = digits[0] == '0' ? '1' : '0';
	(void)text_format(header, sizeof(header), "t=" TIME ",v1=%s", digits);
	REQUIRE(!notice_is_signed(header, body, size, &secrets, NOW_S));
	free(text);
}

static void read_body(const char *body, size_t size)
{
	struct notice notice;
	struct error error = { .text = "" };

	if (notice_read(body, size, &notice, &error) != RESULT_OK) {
		REQUIRE(error.text[0] != '\0');
		return;
	}
	if (!notice.is_paid)
		return;
	REQUIRE(payment_is_channel(notice.payment.channel));
	REQUIRE(text_is_key(
		notice.payment.trade_no, strlen(notice.payment.trade_no), TEXT_KEY_MAX));
	REQUIRE(text_is_key(
		notice.payment.order_no, strlen(notice.payment.order_no), TEXT_KEY_MAX));
	REQUIRE(notice.payment.amount_cents >= 0 && strlen(notice.payment.currency) == 3);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	char *text = memory_copy_bytes(bytes, size);
	char *end = memchr(text, '\n', size);
	char *body = end == NULL ? text : end + 1;
	size_t body_size = size - (size_t)(body - text);

	if (end != NULL)
		*end = '\0';
	REQUIRE(!notice_is_signed(end == NULL ? NULL : text, body, body_size, &secrets, NOW_S));
	sign_and_check(body, body_size);
	read_body(body, body_size);
	free(text);
	return 0;
}
