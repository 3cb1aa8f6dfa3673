#include "demo/stock/stock.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/io/httpd.h"
#include "demo/stock/api.h"
#include "demo/stock/ledger.h"

enum {
	STEP_WAIT_MS = 500,
	CHECK_INTERVAL_MS = 1000,
	BODY_MAX = 1048576,
	CONNECTION_MAX = 512,
	TIME_LIMIT_MS = 60000,
	FILL_SKUS_MAX = 1000,
	FILL_QUANTITY_MAX = 1000000000,
};

struct stock {
	const struct stock_settings *settings;
	struct api api;
	struct httpd *httpd;
	uint64_t next_check_ms;
	uint64_t failures;
	bool was_connected;
};

static const char default_address[] = "127.0.0.1:8090";

static const struct setting stock_settings_table[] = {
	SETTINGS_SHARED(struct stock_settings, service, service_settings_table),
	SETTINGS_SHARED(struct stock_settings, db, db_settings_table),
	SETTING_END,
};

static void check_settings(const void *context, struct settings_report *report)
{
	const struct stock_settings *settings = context;

	db_check_settings(&settings->db, report);
	serving_check(&settings->serving, report);
}

/* "20x10000": SKU-1 to SKU-20, 10000 pieces of each. */
static bool set_fill(struct stock_settings *settings, const char *value)
{
	char skus[16];
	const char *quantity = strchr(value, 'x');
	uint64_t numbers[2];

	if (quantity == NULL ||
		!text_format(skus, sizeof(skus), "%.*s", (int)(quantity - value), value) ||
		!text_parse_uint(skus, 1, FILL_SKUS_MAX, &numbers[0]) ||
		!text_parse_uint(quantity + 1, 1, FILL_QUANTITY_MAX, &numbers[1]))
		return false;
	settings->fill_skus = (uint32_t)numbers[0];
	settings->fill_quantity = (uint32_t)numbers[1];
	return true;
}

static bool take_argument(void *context, const char *word)
{
	static const char fill[] = "--fill=";
	struct stock_settings *settings = context;

	if (text_starts_with(word, fill))
		return set_fill(settings, word + strlen(fill));
	return serving_take_argument(&settings->serving, word);
}

static void dump(void *context)
{
	const struct stock *stock = context;

	log_info(log_event("dump_stock"), log_uint("port", httpd_port(stock->httpd)),
		log_uint("failures", stock->failures));
}

const struct service_program stock_program = {
	.name = "lapse-stock",
	.summary = "A product service for demo and tests: moves stock once per idempotency key.",
	.settings = stock_settings_table,
	.check = check_settings,
	.metrics = api_metrics,
	.checks = SERVICE_CHECK_MYSQL | SERVICE_CHECK_HTTP,
	.dump = dump,
	.take_argument = take_argument,
	.usage = "  --listen HOST:PORT   where to serve; default 127.0.0.1:8090\n"
		 "  --fill=SKUSxPIECES   SKU-1 to SKU-n are there, so many of each\n"
		 "Misbehaviour of restores, also by POST /v1/misbehave while running:\n"
		 "  --fail-rate RATE     answer 500 to this share (0 to 1) of the calls\n"
		 "  --error-code RATE    answer 200 with a code that is not 0\n"
		 "  --lose-answers RATE  do the work and close the connection\n"
		 "  --hang RATE          do not answer\n"
		 "  --delay DURATION     answer later, for example 50ms\n"
		 "  --fail-sku SKU=STATUS  fail for this SKU with this status; up to 16 times\n"
		 "  --retry-after SECONDS  send this header with every failing status\n",
};

enum result stock_create(
	const struct stock_settings *settings, struct stock **stock_out, struct error *error)
{
	struct stock *stock = memory_allocate(sizeof(*stock));
	const struct httpd_settings server = {
		.address = settings->serving.address[0] == '\0' ? default_address
								: settings->serving.address,
		.routes = api_routes,
		.context = &stock->api,
		.body_max = BODY_MAX,
		.connection_max = CONNECTION_MAX,
		.time_limit_ms = TIME_LIMIT_MS,
	};

	stock->settings = settings;
	stock->api.misbehave = settings->serving.misbehave;
	db_create(&settings->db, &stock->api.db);
	/* The tables are our own. */
	db_skip_schema_check(stock->api.db);
	enum result result = httpd_create(&server, &stock->httpd, error);
	if (result != RESULT_OK) {
		stock_destroy(&stock);
		return result;
	}
	service_set_check(SERVICE_CHECK_HTTP, true, NULL);
	log_info(log_event("listening"), log_uint("port", httpd_port(stock->httpd)));
	*stock_out = stock;
	return RESULT_OK;
}

static void note_database(struct stock *stock, enum result result, const struct error *error)
{
	bool is_well = result == RESULT_OK;

	service_set_check(SERVICE_CHECK_MYSQL, is_well, is_well ? NULL : error->text);
	if (!is_well && log_is_worth_repeating(&stock->failures))
		log_warn(log_event("database_away"), log_text("error", error->text),
			log_uint("repeated", stock->failures));
	if (is_well && stock->failures > 0) {
		log_info(log_event("recovered"), log_uint("failures", stock->failures));
		service_note_reconnect(SERVICE_CHECK_MYSQL);
		stock->failures = 0;
	}
}

/* What is there already keeps its quantity: a restart gives nothing back. */
static enum result fill(const struct stock *stock, struct error *error)
{
	struct db *db = stock->api.db;
	enum result result = RESULT_OK;

	for (uint32_t i = 1; result == RESULT_OK && i <= stock->settings->fill_skus; i++) {
		char sku_id[TEXT_KEY_SIZE];
		int64_t quantity = 0;

		(void)text_format(sku_id, sizeof(sku_id), "SKU-%" PRIu32, i);
		result = ledger_find_stock(db, sku_id, &quantity, error);
		if (result == RESULT_NONE)
			result =
				ledger_set_stock(db, sku_id, stock->settings->fill_quantity, error);
	}
	return result;
}

/* Requests are answered 503 meanwhile: callers see a service in trouble and not a dead one. */
static void keep_connected(struct stock *stock)
{
	struct db *db = stock->api.db;
	struct error error = { 0 };
	enum result result = RESULT_OK;

	if (clock_now_ms() < stock->next_check_ms)
		return;
	if (db_is_connected(db)) {
		result = db_ping(db, &error);
	} else {
		result = db_ensure_connected(db, &error);
		if (result == RESULT_OK)
			result = ledger_create_tables(db, &error);
		if (result == RESULT_OK)
			result = fill(stock, &error);
	}
	if (result != RESULT_OK)
		db_disconnect(db);
	note_database(stock, result, &error);
	stock->next_check_ms = clock_now_ms() + CHECK_INTERVAL_MS;
}

enum result stock_step(void *context, struct error *error)
{
	struct stock *stock = context;

	(void)error;
	keep_connected(stock);
	httpd_step(stock->httpd, STEP_WAIT_MS);
	return RESULT_OK;
}

void stock_destroy(struct stock **stock)
{
	if (*stock == NULL)
		return;
	httpd_destroy(&(*stock)->httpd);
	db_destroy(&(*stock)->api.db);
	free(*stock);
	*stock = NULL;
}
