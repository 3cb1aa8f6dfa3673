#include "gateway/gateway.h"

#include <stdlib.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/io/httpd.h"
#include "common/order/rule.h"
#include "common/report/close_report.h"
#include "gateway/access.h"
#include "gateway/context.h"
#include "gateway/counts.h"
#include "gateway/orders.h"
#include "gateway/payments.h"

enum {
	STEP_WAIT_MS = 500,
	CHECK_INTERVAL_MS = 1000,
	BODY_MAX = 65536,
	CONNECTION_MAX = 1024,
	TIME_LIMIT_MS = 10000,
	RULES_MAX_AGE_MS = 3000,
};

struct gateway {
	struct context context;
	struct httpd *httpd;
	uint64_t next_check_ms;
	uint64_t failures;
};

static const struct httpd_route routes[] = {
	{ "POST", "/v1/orders", orders_create },
	{ "GET", "/v1/orders/*", orders_read },
	{ "POST", "/v1/orders/*", orders_cancel },
	{ "POST", "/v1/payments/notify", payments_notify },
	{ NULL, NULL, NULL },
};

static void dump(void *context)
{
	const struct gateway *gateway = context;

	log_info(log_event("dump"), log_uint("port", httpd_port(gateway->httpd)),
		log_uint("mysql", db_is_connected(gateway->context.db)),
		log_uint("failures", gateway->failures));
}

static void reload(void *context)
{
	struct gateway *gateway = context;
	struct error error = { .text = "" };

	if (access_reload(gateway->context.access, &error) != RESULT_OK)
		log_error(log_event("reload_failed"), log_text("error", error.text));
}

const struct service_program gateway_program = {
	.name = "lapse-gateway",
	.summary = "HTTP API for orders and payment notices: create, pay, cancel, read",
	.settings = gateway_settings_table,
	.check = gateway_check_settings,
	.metrics = counts_metrics,
	.checks = SERVICE_CHECK_MYSQL | SERVICE_CHECK_HTTP,
	.dump = dump,
	.reload = reload,
};

enum result gateway_create(
	const struct gateway_settings *settings, struct gateway **gateway_out, struct error *error)
{
	struct gateway *gateway = memory_allocate(sizeof(*gateway));
	const struct httpd_settings server = {
		.address = settings->address,
		.routes = routes,
		.context = &gateway->context,
		.body_max = BODY_MAX,
		.connection_max = CONNECTION_MAX,
		.time_limit_ms = TIME_LIMIT_MS,
	};

	gateway->context.settings = settings;
	db_create(&settings->mysql, &gateway->context.db);
	rules_create(RULES_MAX_AGE_MS, &gateway->context.rules);
	enum result result = access_create(settings->tokens_file, &gateway->context.access, error);
	if (result == RESULT_OK)
		result = httpd_create(&server, &gateway->httpd, error);
	if (result != RESULT_OK) {
		gateway_destroy(&gateway);
		return result;
	}
	close_report_register();
	service_set_check(SERVICE_CHECK_HTTP, true, NULL);
	log_info(log_event("listening"), log_uint("port", httpd_port(gateway->httpd)));
	*gateway_out = gateway;
	return RESULT_OK;
}

void gateway_destroy(struct gateway **gateway)
{
	if (*gateway == NULL)
		return;
	httpd_destroy(&(*gateway)->httpd);
	access_destroy(&(*gateway)->context.access);
	rules_destroy(&(*gateway)->context.rules);
	db_destroy(&(*gateway)->context.db);
	free(*gateway);
	*gateway = NULL;
}

/* Requests are answered 503 meanwhile. */
static void keep_connected(struct gateway *gateway)
{
	struct error error = { .text = "" };
	uint64_t now_ms = clock_now_ms();

	if (now_ms < gateway->next_check_ms)
		return;
	gateway->next_check_ms = now_ms + CHECK_INTERVAL_MS;
	enum result result = db_ensure_connected(gateway->context.db, &error);
	if (result == RESULT_OK)
		result = db_ping(gateway->context.db, &error);
	service_set_check(SERVICE_CHECK_MYSQL, result == RESULT_OK, error.text);
	if (result != RESULT_OK && log_is_worth_repeating(&gateway->failures))
		log_warn(log_event("mysql_is_away"), log_text("error", error.text),
			log_uint("count", gateway->failures));
	if (result == RESULT_OK && gateway->failures > 0) {
		log_info(log_event("mysql_is_back"), log_uint("failures", gateway->failures));
		service_note_reconnect(SERVICE_CHECK_MYSQL);
		gateway->failures = 0;
	}
}

enum result gateway_step(void *context, struct error *error)
{
	struct gateway *gateway = context;

	(void)error;
	keep_connected(gateway);
	httpd_step(gateway->httpd, STEP_WAIT_MS);
	return RESULT_OK;
}
