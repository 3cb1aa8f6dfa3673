#include "common/io/signature.h"

#include <stdlib.h>
#include <string.h>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "common/base/memory.h"
#include "common/base/result.h"
#include "common/base/text.h"

enum {
	ENCODED_KEY_MAX = (SIGNATURE_KEY_MAX + 2) / 3 * 4,
	SECRET_MAX = 2, /* the old and the new one */
};

static const char secret_prefix[] = "whsec_";
static const char signature_prefix[] = "v1,";

void signature_raw(uint8_t out[SIGNATURE_BYTES], const void *key, size_t key_size,
	const void *bytes, size_t size)
{
	unsigned int out_size = 0;

	REQUIRE(key_size <= INT32_MAX);
	/* Fails only when the library has no SHA-256 at all. */
	const unsigned char *made =
		HMAC(EVP_sha256(), key, (int)key_size, bytes, size, out, &out_size);
	REQUIRE(made != NULL && out_size == SIGNATURE_BYTES);
}

void signature_hex(char out[SIGNATURE_HEX_SIZE], const void *key, size_t key_size,
	const void *bytes, size_t size)
{
	uint8_t raw[SIGNATURE_BYTES];

	signature_raw(raw, key, key_size, bytes, size);
	text_hex(out, raw, sizeof(raw));
}

void signature_sha256_hex(char out[SIGNATURE_HEX_SIZE], const void *bytes, size_t size)
{
	uint8_t raw[SIGNATURE_BYTES];
	unsigned int raw_size = 0;

	/* Fails only when the library has no SHA-256 at all. */
	int made = EVP_Digest(bytes, size, raw, &raw_size, EVP_sha256(), NULL);
	REQUIRE(made == 1 && raw_size == SIGNATURE_BYTES);
	text_hex(out, raw, sizeof(raw));
}

void signature_base64(char out[SIGNATURE_BASE64_SIZE], const void *key, size_t key_size,
	const void *bytes, size_t size)
{
	uint8_t raw[SIGNATURE_BYTES];

	signature_raw(raw, key, key_size, bytes, size);
	(void)EVP_EncodeBlock((unsigned char *)out, raw, sizeof(raw));
}

bool signature_is_hex(const char *text)
{
	return strlen(text) == SIGNATURE_HEX_SIZE - 1 &&
	       strspn(text, "0123456789abcdef") == SIGNATURE_HEX_SIZE - 1;
}

bool signature_equals(const void *left, const void *right, size_t size)
{
	return CRYPTO_memcmp(left, right, size) == 0;
}

/* The library counts the padding as bytes of the key. */
static size_t count_padding(const char *encoded, size_t size)
{
	size_t padding = 0;

	while (padding < 2 && padding < size && encoded[size - 1 - padding] == '=')
		padding++;
	return padding;
}

static bool is_base64(const char *encoded, size_t size)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				     "0123456789+/";
	size_t padding = count_padding(encoded, size);

	return size > 0 && size % 4 == 0 && size <= ENCODED_KEY_MAX &&
	       strspn(encoded, digits) == size - padding;
}

/* The key of one secret of size characters; 0 when it has not the right form. */
static size_t decode_secret(const char *secret, size_t size, uint8_t key[SIGNATURE_KEY_MAX + 2])
{
	size_t prefix = strlen(secret_prefix);

	if (size <= prefix || !text_starts_with(secret, secret_prefix) ||
		!is_base64(secret + prefix, size - prefix))
		return 0;
	int decoded =
		EVP_DecodeBlock(key, (const unsigned char *)secret + prefix, (int)(size - prefix));
	return decoded < 0 ? 0 : (size_t)decoded - count_padding(secret, size);
}

static void append_signature(char out[SIGNATURE_WEBHOOK_SIZE], const uint8_t *key, size_t key_size,
	const char *signed_text)
{
	char encoded[SIGNATURE_BASE64_SIZE];
	size_t used = strlen(out);

	signature_base64(encoded, key, key_size, signed_text, strlen(signed_text));
	bool fits = text_format(out + used, SIGNATURE_WEBHOOK_SIZE - used, "%s%s%s",
		used == 0 ? "" : " ", signature_prefix, encoded);
	REQUIRE(fits);
}

/* signed_text NULL: only looks whether the secrets are well formed. */
static bool sign_with_all(
	char out[SIGNATURE_WEBHOOK_SIZE], const char *secrets, const char *signed_text)
{
	uint8_t key[SIGNATURE_KEY_MAX + 2];
	bool is_well = true;
	int count = 0;

	for (const char *secret = secrets; is_well && *secret != '\0'; count++) {
		size_t size = strcspn(secret, " ");
		size_t key_size = decode_secret(secret, size, key);

		is_well = key_size > 0 && count < SECRET_MAX;
		if (is_well && signed_text != NULL)
			append_signature(out, key, key_size, signed_text);
		secret += size;
		secret += strspn(secret, " ");
	}
	memory_wipe(key, sizeof(key));
	return is_well && count > 0;
}

bool signature_webhook(char out[SIGNATURE_WEBHOOK_SIZE], const char *secret, const char *id,
	const char *timestamp, const char *body)
{
	size_t size = strlen(id) + strlen(timestamp) + strlen(body) + sizeof("..");
	char *signed_text = memory_allocate(size);

	out[0] = '\0';
	(void)text_format(signed_text, size, "%s.%s.%s", id, timestamp, body);
	bool is_signed = sign_with_all(out, secret, signed_text);
	free(signed_text);
	return is_signed;
}

bool signature_is_webhook_secret(const char *secret)
{
	char unused[SIGNATURE_WEBHOOK_SIZE] = "";

	return sign_with_all(unused, secret, NULL);
}
