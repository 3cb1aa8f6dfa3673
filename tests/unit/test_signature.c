/* signature: the published vectors, the forms of a secret, and what is no secret. */
#include <string.h>

#include <check.h>

#include "common/base/compiler.h"
#include "common/base/text.h"
#include "common/io/signature.h"
#include "tests/support/runner.h"

static const char good_secret[] = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=";
static const char good_signature[] = "v1,cKOGrMKORKJ39uuirN/CECdLTJdkTMOYill0TdCZNwM=";

static bool sign(const char *secret, char out[SIGNATURE_WEBHOOK_SIZE])
{
	return signature_webhook(out, secret, "msg_01HF7YAT00TESTVECTOR00001", "1700000000",
		"{\"status\":\"firing\"}");
}

/* RFC 4231, test case 2. */
START_TEST(an_hmac_equals_the_published_vector)
{
	char hex[SIGNATURE_HEX_SIZE];

	signature_hex(hex, "Jefe", 4, "what do ya want for nothing?", 28);
	ck_assert_str_eq(hex, "5bdcc146bf60754e6a042426089575c7"
			      "5a003f089d2739839dec58b964ec3843");
}
END_TEST

START_TEST(robots_get_the_signatures_they_expect)
{
	static const char dingtalk[] = "1700000000000\nSECtest0123456789";
	static const char feishu_key[] = "1700000000\nfstest0123456789";
	char base64[SIGNATURE_BASE64_SIZE];

	signature_base64(base64, "SECtest0123456789", 17, dingtalk, strlen(dingtalk));
	ck_assert_str_eq(base64, "yBKp5IlG6qCzcQWmgyRK/ziJBdVNJmHfFE2ST/CzT/g=");
	signature_base64(base64, feishu_key, strlen(feishu_key), "", 0);
	ck_assert_str_eq(base64, "OcxzSaVAfAWZvpevsnMKkVpUG0qNV60Jv9pb+R8anrY=");
}
END_TEST

START_TEST(a_webhook_gets_the_published_signature)
{
	char signature[SIGNATURE_WEBHOOK_SIZE];

	ck_assert(sign(good_secret, signature));
	ck_assert_str_eq(signature, good_signature);
}
END_TEST

START_TEST(two_secrets_give_two_signatures)
{
	char both[256];
	char signature[SIGNATURE_WEBHOOK_SIZE];

	(void)text_format(both, sizeof(both), "%s %s", good_secret, "whsec_bmV3");
	ck_assert(signature_is_webhook_secret(both));
	ck_assert(sign(both, signature));
	ck_assert_uint_eq(strlen(signature), 2 * strlen(good_signature) + 1);
	ck_assert_int_eq(strncmp(signature, good_signature, strlen(good_signature)), 0);
	ck_assert_int_eq(signature[strlen(good_signature)], ' ');
	ck_assert_int_eq(strncmp(signature + strlen(good_signature) + 1, "v1,", strlen("v1,")), 0);
}
END_TEST

START_TEST(what_is_no_webhook_secret_signs_nothing)
{
	static const char *const secrets[] = {
		"",
		" ",
		"whsec_",
		"whsec_====",
		"whsec_abc",
		"whsec_ab=c",
		"whsec_YQ==YQ==",
		"whsec_a b=",
		"whsec_YQ\n==",
		"YWJj",
		"WHSEC_YWJj",
		"whsec_YWJj whsec_YWJj whsec_YWJj",
		"whsec_YWJj plain",
	};
	char signature[SIGNATURE_WEBHOOK_SIZE];

	for (size_t i = 0; i < ARRAY_LENGTH(secrets); i++) {
		ck_assert_msg(!signature_is_webhook_secret(secrets[i]), "\"%s\"", secrets[i]);
		ck_assert_msg(!sign(secrets[i], signature), "\"%s\"", secrets[i]);
	}
}
END_TEST

START_TEST(the_longest_key_fits_and_a_longer_one_is_refused)
{
	/* 342 digits and two signs of padding are 256 bytes; four digits more are too many. */
	char secret[6 + 348 + 1] = "whsec_";
	char signature[SIGNATURE_WEBHOOK_SIZE];

	memset(secret + 6, 'A', 342);
	memcpy(secret + 6 + 342, "==", 3);
	ck_assert(sign(secret, signature));
	memset(secret + 6, 'A', 346);
	memcpy(secret + 6 + 346, "==", 3);
	ck_assert(!sign(secret, signature));
}
END_TEST

START_TEST(comparing_looks_at_every_byte)
{
	ck_assert(signature_equals("abcd", "abcd", 4));
	ck_assert(!signature_equals("abcd", "abce", 4));
	ck_assert(!signature_equals("Xbcd", "abcd", 4));
	ck_assert(signature_equals("abcd", "abce", 3));
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		an_hmac_equals_the_published_vector,
		robots_get_the_signatures_they_expect,
		a_webhook_gets_the_published_signature,
		two_secrets_give_two_signatures,
		what_is_no_webhook_secret_signs_nothing,
		the_longest_key_fits_and_a_longer_one_is_refused,
		comparing_looks_at_every_byte,
	};

	return runner_run("signature", tests, ARRAY_LENGTH(tests));
}
