#include "demo/shop/settings.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/text.h"
#include "common/io/http.h"

enum {
	RATE_MAX = 1000000,
	SKU_MAX = 100000,
	SHARE_LENGTH_MAX = 10,
	RANGE_SIZE = 16,
};

#define TIMEOUT_MAX_MS DAYS(30)

const struct setting shop_settings_table[] = {
	SETTINGS_SHARED(struct shop_settings, service, service_settings_table),
	SETTINGS_SHARED(struct shop_settings, db, db_settings_table),
	SETTING_END,
};

const char shop_usage[] =
	"  --orders N           how many orders; default 300\n"
	"  --endless            orders until it is stopped\n"
	"  --rate N|max         orders a second; default 100\n"
	"  --timeout DURATION   an order's time; default 5s\n"
	"  --jitter DURATION    up to so much longer, at random; default 0s\n"
	"  --pay SHARE          share (0 to 1) of the orders that are paid; default 0.3\n"
	"  --last-moment SHARE  share of those that are paid around the deadline; default 0\n"
	"  --skus N             SKU-1 to SKU-N are sold; default 20\n"
	"  --items N|N-M        lines of an order, up to 16; default 1-3\n"
	"  --batch N            most orders in one transaction, up to 1000; default 100\n"
	"  --stock-url URL      the product service; default http://127.0.0.1:8090\n"
	"  --no-reserve         do not ask the product service for the stock\n"
	"  --prefix TEXT        order numbers are TEXT-1, TEXT-2, ...; default: new in each run\n";

void shop_set_defaults(struct shop_settings *settings)
{
	settings->order_count = 300;
	settings->rate = 100;
	settings->timeout_ms = SECONDS(5);
	settings->pay_share = SHOP_MILLION * 3 / 10;
	settings->sku_count = 20;
	settings->item_min = 1;
	settings->item_max = 3;
	settings->batch = 100;
	(void)text_copy(settings->stock_url, sizeof(settings->stock_url), "http://127.0.0.1:8090");
}

/* "0" to "1" with a fraction. */
static bool set_share(const char *value, uint64_t *millionths_out)
{
	size_t length = strlen(value);
	char *end = NULL;

	if (length == 0 || length > SHARE_LENGTH_MAX || strspn(value, "0123456789.") != length)
		return false;
	double share = strtod(value, &end);
	if (*end != '\0' || share > 1)
		return false;
	*millionths_out = (uint64_t)(share * SHOP_MILLION + 0.5);
	return true;
}

static bool set_rate(struct shop_settings *settings, const char *value)
{
	if (text_equals(value, "max")) {
		settings->rate = 0;
		return true;
	}
	return text_parse_uint(value, 1, RATE_MAX, &settings->rate);
}

static bool set_duration(const char *value, uint64_t *milliseconds_out)
{
	uint64_t milliseconds = 0;

	if (!text_parse_duration(value, &milliseconds) || milliseconds > TIMEOUT_MAX_MS)
		return false;
	*milliseconds_out = milliseconds;
	return true;
}

/* "2" or "1-3". */
static bool set_items(struct shop_settings *settings, const char *value)
{
	const char *dash = strchr(value, '-');
	char first[RANGE_SIZE] = "";
	uint64_t minimum = 0;
	uint64_t maximum = 0;

	if (!text_format(first, sizeof(first), "%.*s", (int)strcspn(value, "-"), value) ||
		!text_parse_uint(first, 0, SHOP_ITEM_MAX, &minimum) ||
		!text_parse_uint(dash == NULL ? first : dash + 1, minimum, SHOP_ITEM_MAX, &maximum))
		return false;
	settings->item_min = minimum;
	settings->item_max = maximum;
	return true;
}

static bool set_option(void *context, const char *name, const char *value)
{
	struct shop_settings *settings = context;

	if (text_equals(name, "orders"))
		return text_parse_uint(value, 1, UINT32_MAX, &settings->order_count);
	if (text_equals(name, "rate"))
		return set_rate(settings, value);
	if (text_equals(name, "timeout"))
		return set_duration(value, &settings->timeout_ms);
	if (text_equals(name, "jitter"))
		return set_duration(value, &settings->jitter_ms);
	if (text_equals(name, "pay"))
		return set_share(value, &settings->pay_share);
	if (text_equals(name, "last-moment"))
		return set_share(value, &settings->last_moment_share);
	if (text_equals(name, "skus"))
		return text_parse_uint(value, 1, SKU_MAX, &settings->sku_count);
	if (text_equals(name, "items"))
		return set_items(settings, value);
	if (text_equals(name, "batch"))
		return text_parse_uint(value, 1, SHOP_BATCH_MAX, &settings->batch);
	if (text_equals(name, "stock-url"))
		return http_is_url(value) &&
		       text_copy(settings->stock_url, sizeof(settings->stock_url), value);
	return text_equals(name, "prefix") && text_is_key(value, strlen(value), SHOP_PREFIX_SIZE) &&
	       text_copy(settings->prefix, sizeof(settings->prefix), value);
}

static bool has_value(const char *name)
{
	static const char *const names[] = { "orders", "rate", "timeout", "jitter", "pay",
		"last-moment", "skus", "items", "batch", "stock-url", "prefix" };

	for (size_t i = 0; i < ARRAY_LENGTH(names); i++)
		if (text_equals(name, names[i]))
			return true;
	return false;
}

static bool set_flag(struct shop_settings *settings, const char *argument)
{
	if (text_equals(argument, "--endless"))
		settings->is_endless = true;
	else if (text_equals(argument, "--no-reserve"))
		settings->skips_reserve = true;
	else
		return false;
	return true;
}

bool shop_take_argument(void *settings, const char *word)
{
	static const struct argument_plan plan = { has_value, set_option };
	struct shop_settings *shop = settings;

	if (shop->argument.waiting[0] == '\0' && set_flag(shop, word))
		return true;
	return argument_take(&shop->argument, &plan, shop, word);
}

void shop_check_settings(const void *settings, struct settings_report *report)
{
	const struct shop_settings *shop = settings;

	db_check_settings(&shop->db, report);
	if (shop->argument.waiting[0] != '\0')
		settings_report_add(report, "--%s: needs a value", shop->argument.waiting);
}
