#include "demo/stock/misbehave.h"

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
};

const char *const misbehave_names[] = { "fail-rate", "error-code", "hang", "lose-answers", "delay",
	"retry-after", "fail-sku", NULL };

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

static bool set_sku(struct misbehave *misbehave, const char *value)
{
	const char *equals = strchr(value, '=');
	char sku_id[TEXT_KEY_SIZE] = "";
	uint64_t status = 0;

	if (value[0] == '\0') {
		misbehave->sku_count = 0;
		return true;
	}
	if (equals == NULL || !text_is_key(value, (size_t)(equals - value), TEXT_KEY_MAX) ||
		!text_parse_uint(equals + 1, 400, 599, &status))
		return false;
	memcpy(sku_id, value, (size_t)(equals - value));
	struct misbehave_sku *sku = find_sku(misbehave, sku_id);
	if (sku == NULL)
		return false;
	memcpy(sku->sku_id, sku_id, sizeof(sku_id));
	sku->status = (unsigned int)status;
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
	return text_equals(name, "fail-sku") && set_sku(misbehave, value);
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
