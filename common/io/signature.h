/*
 * signature - HMAC-SHA256 of bytes, compared in constant time; the Standard Webhooks signature.
 */
#ifndef COMMON_IO_SIGNATURE_H
#define COMMON_IO_SIGNATURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/compiler.h"

enum {
	SIGNATURE_BYTES = 32,
	SIGNATURE_HEX_SIZE = 2 * SIGNATURE_BYTES + 1,
	SIGNATURE_BASE64_SIZE = 44 + 1,
	SIGNATURE_KEY_MAX = 256, /* bytes of a decoded secret */
	/* "v1,<base64>", room for two of them with a blank between. */
	SIGNATURE_WEBHOOK_SIZE = 2 * (3 + 44) + 1 + 1,
};

void signature_raw(uint8_t out[SIGNATURE_BYTES], const void *key, size_t key_size,
	const void *bytes, size_t size);
/* Lower-case digits. */
void signature_hex(char out[SIGNATURE_HEX_SIZE], const void *key, size_t key_size,
	const void *bytes, size_t size);
void signature_base64(char out[SIGNATURE_BASE64_SIZE], const void *key, size_t key_size,
	const void *bytes, size_t size);

/* SHA-256 without a key, for stored tokens.  Lower-case digits. */
void signature_sha256_hex(char out[SIGNATURE_HEX_SIZE], const void *bytes, size_t size);

/* Is it such a text? */
bool signature_is_hex(const char *text);

/* Takes the same time wherever the first difference is; the size is no secret. */
bool signature_equals(const void *left, const void *right, size_t size);

/*
 * The header webhook-signature over "<id>.<timestamp>.<body>" (standardwebhooks.com).  secret is
 * "whsec_<base64 of the key>"; two secrets with a blank between, while a secret is being replaced,
 * give two signatures with a blank between.  False when a secret is not of this form.
 */
MUST_USE bool signature_webhook(char out[SIGNATURE_WEBHOOK_SIZE], const char *secret,
	const char *id, const char *timestamp, const char *body);
/* For the check of settings. */
bool signature_is_webhook_secret(const char *secret);

#endif
