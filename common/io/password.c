#include "common/io/password.h"

#include <crypt.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/base/random.h"
#include "common/base/text.h"
#include "common/io/signature.h"

enum {
	SALT_BYTES = 32,
};

static const char yescrypt[] = "$y$";
static const char sha512[] = "$6$";

bool password_is_hash(const char *text)
{
	size_t length = strlen(text);

	if (!text_starts_with(text, yescrypt) && !text_starts_with(text, sha512))
		return false;
	if (length < 20 || length >= PASSWORD_HASH_SIZE)
		return false;
	for (size_t i = 0; i < length; i++)
		if (text[i] <= ' ' || text[i] >= 0x7f || strchr(":;*!\\", text[i]) != NULL)
			return false;
	return true;
}

bool password_fits(const char *hash, const char *password)
{
	struct crypt_data *data = memory_allocate(sizeof(*data));
	const char *made = NULL;
	bool fits = false;

	if (strlen(password) <= PASSWORD_MAX)
		made = crypt_r(password, hash, data);
	/* A failure is told by a text that begins with a star. */
	if (made != NULL && made[0] != '*' && strlen(made) == strlen(hash))
		fits = signature_equals(made, hash, strlen(hash));
	memory_wipe(data, sizeof(*data));
	free(data);
	return fits;
}

enum result password_hash(
	const char *password, char hash_out[PASSWORD_HASH_SIZE], struct error *error)
{
	char salt[CRYPT_GENSALT_OUTPUT_SIZE];
	uint8_t bytes[SALT_BYTES];
	enum result result = RESULT_OK;

	if (strlen(password) > PASSWORD_MAX)
		return error_set(RESULT_PERMANENT, error, "the password is longer than %d bytes",
			PASSWORD_MAX);
	random_bytes(bytes, sizeof(bytes));
	if (crypt_gensalt_rn(yescrypt, 0, (const char *)bytes, sizeof(bytes), salt, sizeof(salt)) ==
		NULL)
		return error_set(RESULT_PERMANENT, error, "crypt(3) has no yescrypt");
	struct crypt_data *data = memory_allocate(sizeof(*data));
	const char *made = crypt_r(password, salt, data);
	if (made == NULL || made[0] == '*' || !text_copy(hash_out, PASSWORD_HASH_SIZE, made))
		result = error_set(RESULT_PERMANENT, error, "crypt(3) made no hash");
	memory_wipe(data, sizeof(*data));
	free(data);
	return result;
}
