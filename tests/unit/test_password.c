/* Hashes of passwords, made and compared by crypt(3). */
#include <string.h>

#include "common/base/text.h"
#include "common/io/password.h"
#include "tests/support/runner.h"

/* SHA-512 with few rounds, made by mkpasswd(1) from "secret". */
static const char sha512[] =
	"$6$rounds=1000$lapse$8OT.GhNAfGl6NXDYg5qMYYbF.QP.lvTCeOwQzK4xhR1ED3daxE/nZRA7cmS9xA2hYcep8"
	"xVO5Q77ILuTQi7Zk1";

START_TEST(a_hash_fits_its_own_password_only)
{
	char hash[PASSWORD_HASH_SIZE];
	char other[PASSWORD_HASH_SIZE];
	struct error error = { .text = "" };

	ck_assert_int_eq(password_hash("correct horse", hash, &error), RESULT_OK);
	ck_assert_int_eq(password_hash("correct horse", other, &error), RESULT_OK);
	ck_assert_str_ne(hash, other); /* each has a salt of its own */
	ck_assert(password_is_hash(hash));
	ck_assert(password_fits(hash, "correct horse"));
	ck_assert(!password_fits(hash, "correct horsf"));
	ck_assert(!password_fits(hash, ""));
}
END_TEST

START_TEST(what_is_no_hash_is_refused)
{
	static const char *const wrong[] = { "", "*", "!", "secret",
		"$1$abc$1234567890123456789012", "$y$", "$y$j9T$with:colon$1234567890123",
		"$6$with blank$12345678901234567" };

	for (size_t i = 0; i < ARRAY_LENGTH(wrong); i++) {
		ck_assert_msg(!password_is_hash(wrong[i]), "%s", wrong[i]);
		ck_assert_msg(!password_fits(wrong[i], "secret"), "%s", wrong[i]);
	}
	ck_assert(password_is_hash(sha512));
	ck_assert(password_fits(sha512, "secret"));
}
END_TEST

START_TEST(a_password_that_is_too_long_is_refused)
{
	char text[PASSWORD_MAX + 2];
	char hash[PASSWORD_HASH_SIZE];
	struct error error = { .text = "" };

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	ck_assert_int_eq(password_hash(text, hash, &error), RESULT_PERMANENT);
	ck_assert_ptr_nonnull(strstr(error.text, "longer"));
	text[PASSWORD_MAX] = '\0';
	ck_assert_int_eq(password_hash(text, hash, &error), RESULT_OK);
	ck_assert(password_fits(hash, text));
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		a_hash_fits_its_own_password_only,
		what_is_no_hash_is_refused,
		a_password_that_is_too_long_is_refused,
	};

	return runner_run("password", tests, ARRAY_LENGTH(tests));
}
