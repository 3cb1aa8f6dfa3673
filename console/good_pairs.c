#include "console/good_pairs.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/base/random.h"
#include "common/base/text.h"
#include "common/io/password.h"
#include "common/io/signature.h"
#include "console/role.h"

enum {
	PLACES = 256,
	KEY_SIZE = 32,
	PAIR_SIZE = ROLE_NAME_SIZE + PASSWORD_MAX + 2,
};

struct pair {
	uint8_t digest[SIGNATURE_BYTES];
	uint64_t until_ms;
};

struct good_pairs {
	uint8_t key[KEY_SIZE];
	struct pair pairs[PLACES];
	size_t next;
};

void good_pairs_create(struct good_pairs **pairs_out)
{
	struct good_pairs *pairs = memory_allocate(sizeof(*pairs));

	random_bytes(pairs->key, sizeof(pairs->key));
	*pairs_out = pairs;
}

void good_pairs_destroy(struct good_pairs **pairs)
{
	if (*pairs == NULL)
		return;
	memory_wipe(*pairs, sizeof(**pairs));
	free(*pairs);
	*pairs = NULL;
}

/* A name has no line end in it, so that no two pairs read the same. */
static bool make_digest(const struct good_pairs *pairs, const char *name, const char *password,
	uint8_t digest_out[SIGNATURE_BYTES])
{
	char pair[PAIR_SIZE];

	if (!text_format(pair, sizeof(pair), "%s\n%s", name, password))
		return false;
	signature_raw(digest_out, pairs->key, sizeof(pairs->key), pair, strlen(pair));
	memory_wipe(pair, sizeof(pair));
	return true;
}

bool good_pairs_has(const struct good_pairs *pairs, const char *name, const char *password)
{
	uint8_t digest[SIGNATURE_BYTES];
	uint64_t now_ms = clock_now_ms();
	bool is_there = false;

	if (!make_digest(pairs, name, password, digest))
		return false;
	for (size_t i = 0; i < PLACES; i++)
		if (pairs->pairs[i].until_ms > now_ms &&
			signature_equals(pairs->pairs[i].digest, digest, sizeof(digest)))
			is_there = true;
	return is_there;
}

void good_pairs_add(struct good_pairs *pairs, const char *name, const char *password)
{
	struct pair *pair = &pairs->pairs[pairs->next];

	if (!make_digest(pairs, name, password, pair->digest))
		return;
	pair->until_ms = clock_now_ms() + GOOD_PAIRS_AGE_MS;
	pairs->next = (pairs->next + 1) % PLACES;
}

void good_pairs_forget(struct good_pairs *pairs)
{
	memset(pairs->pairs, 0, sizeof(pairs->pairs));
}
