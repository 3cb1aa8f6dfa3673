#include "demo/shared/misbehave.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/compiler.h"
#include "common/base/random.h"

enum {
	MILLION = 1000000,
	RATE_LENGTH_MAX = 10,
	DELAY_MAX_MS = 600000,
	RETRY_AFTER_MAX_S = 86400,
	STATUS_MIN = 400,
	STATUS_MAX = 599,
};

const char *const misbehave_names[] = { "fail-rate", "error-code", "hang", "lose-answers", "delay",
	"retry-after", "fail-sku", NULL };

bool misbehave_is_name(const char *name)
{
	return text_is_one_of(misbehave_names, name);
}

/* "0" to "1" with a fraction. */
static bool parse_rate(const char *text, uint32_t *millionths_out)
{
	size_t length = strlen(text);

	if (length == 0 || length > RATE_LENGTH_MAX || strspn(text, "0123456789.") != length)
		return false;
	char *end = NULL;
	double rate = strtod(text, &end);
	if (*end != '\0' || rate > 1)
		return false;
	*millionths_out = (uint32_t)(rate * MILLION + 0.5);
	return true;
}

static uint32_t *find_rate(struct misbehave *misbehave, const char *name)
{
	uint32_t *const rates[] = { &misbehave->fail_rate, &misbehave->error_code_rate,
		&misbehave->hang_rate, &misbehave->lose_rate };

	for (size_t i = 0; i < ARRAY_LENGTH(rates); i++)
		if (text_equals(name, misbehave_names[i]))
			return rates[i];
	return NULL;
}

static bool set_delay(struct misbehave *misbehave, const char *value)
{
	uint64_t delay_ms = 0;

	if (!text_equals(value, "0") &&
		(!text_parse_duration(value, &delay_ms) || delay_ms > DELAY_MAX_MS))
		return false;
	misbehave->delay_ms = delay_ms;
	return true;
}

static bool set_retry_after(struct misbehave *misbehave, const char *value)
{
	uint64_t seconds = 0;

	if (!text_parse_uint(value, 0, RETRY_AFTER_MAX_S, &seconds))
		return false;
	misbehave->retry_after_s = (uint32_t)seconds;
	return true;
}

static struct misbehave_sku *find_sku(struct misbehave *misbehave, const char *sku_id)
{
	for (size_t i = 0; i < misbehave->sku_count; i++)
		if (text_equals(misbehave->skus[i].sku_id, sku_id))
			return &misbehave->skus[i];
	if (misbehave->sku_count == MISBEHAVE_SKU_MAX)
		return NULL;
	return &misbehave->skus[misbehave->sku_count++];
}

/* One "SKU=STATUS" of size bytes. */
static bool add_sku(struct misbehave *misbehave, const char *text, size_t size)
{
	char pair[TEXT_KEY_SIZE + sizeof("=599")] = "";
	uint64_t status = 0;

	if (size >= sizeof(pair))
		return false;
	memcpy(pair, text, size);
	char *equals = strchr(pair, '=');
	if (equals == NULL || !text_is_key(pair, (size_t)(equals - pair), TEXT_KEY_MAX) ||
		!text_parse_uint(equals + 1, STATUS_MIN, STATUS_MAX, &status))
		return false;
	*equals = '\0';
	struct misbehave_sku *sku = find_sku(misbehave, pair);
	if (sku == NULL)
		return false;
	sku->status = (unsigned int)status;
	return text_copy(sku->sku_id, sizeof(sku->sku_id), pair);
}

static bool set_skus(struct misbehave *misbehave, const char *value)
{
	struct misbehave changed = *misbehave;

	if (value[0] == '\0')
		changed.sku_count = 0;
	for (const char *rest = value; *rest != '\0';) {
		size_t size = strcspn(rest, ",");

		if (!add_sku(&changed, rest, size))
			return false;
		rest += size;
		rest += *rest == ',' ? 1 : 0;
	}
	*misbehave = changed;
	return true;
}

bool misbehave_set(struct misbehave *misbehave, const char *name, const char *value)
{
	uint32_t *rate = find_rate(misbehave, name);

	if (rate != NULL)
		return parse_rate(value, rate);
	if (text_equals(name, "delay"))
		return set_delay(misbehave, value);
	if (text_equals(name, "retry-after"))
		return set_retry_after(misbehave, value);
	return text_equals(name, "fail-sku") && set_skus(misbehave, value);
}

static void write_skus(const struct misbehave *misbehave, char *value, size_t size)
{
	size_t used = 0;

	for (size_t i = 0; i < misbehave->sku_count; i++) {
		(void)text_format(value + used, size - used, "%s%s=%u", i == 0 ? "" : ",",
			misbehave->skus[i].sku_id, misbehave->skus[i].status);
		used = strlen(value);
	}
}

void misbehave_get(const struct misbehave *misbehave, const char *name, char *value, size_t size)
{
	struct misbehave copy = *misbehave;
	const uint32_t *rate = find_rate(&copy, name);

	value[0] = '\0';
	if (rate != NULL)
		(void)text_format(value, size, "%g", (double)*rate / MILLION);
	else if (text_equals(name, "delay"))
		text_format_duration(value, size, misbehave->delay_ms);
	else if (text_equals(name, "retry-after"))
		(void)text_format(value, size, "%" PRIu32, misbehave->retry_after_s);
	else
		write_skus(misbehave, value, size);
}

static bool happens(uint32_t millionths)
{
	return millionths > 0 && random_up_to(MILLION - 1) < millionths;
}

enum misbehave_act misbehave_choose(const struct misbehave *misbehave)
{
	if (happens(misbehave->hang_rate))
		return MISBEHAVE_ACT_HANG;
	if (happens(misbehave->fail_rate))
		return MISBEHAVE_ACT_FAIL;
	if (happens(misbehave->error_code_rate))
		return MISBEHAVE_ACT_ERROR_CODE;
	if (happens(misbehave->lose_rate))
		return MISBEHAVE_ACT_LOSE;
	return MISBEHAVE_ACT_NONE;
}

unsigned int misbehave_find_status(const struct misbehave *misbehave, const char *sku_id)
{
	for (size_t i = 0; i < misbehave->sku_count; i++)
		if (text_equals(misbehave->skus[i].sku_id, sku_id))
			return misbehave->skus[i].status;
	return 0;
}
