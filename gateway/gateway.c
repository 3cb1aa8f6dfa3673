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
#include "gateway/creations.h"
#include "gateway/database.h"
#include "gateway/group.h"
#include "gateway/intake.h"
#include "gateway/orders.h"
#include "gateway/payments.h"

enum {
	STEP_WAIT_MS = 500,
	BODY_MAX = 65536,
	CONNECTION_MAX = 768, /* below the usual limit of 1024 open files */
	TIME_LIMIT_MS = 10000,
	RULES_MAX_AGE_MS = 3000,
};

struct gateway {
	struct context context;
	struct httpd *httpd;
};

static const struct httpd_route routes[] = {
	{ "POST", "/v1/orders", creations_handle },
	{ "POST", "/v1/orders/*/cancel", orders_cancel },
	{ "GET", "/v1/orders/*", orders_read },
	{ "POST", "/v1/payments/notify", payments_notify },
	{ NULL, NULL, NULL },
};

static void dump(void *context)
{
	const struct gateway *gateway = context;

	log_info(log_event("dump"), log_uint("port", httpd_port(gateway->httpd)),
		log_uint("under_way", httpd_count_under_way(gateway->httpd)),
		log_uint("put_off", gateway->context.busy_count),
		log_uint("refused", gateway->context.refused_count));
}

static void reload(void *context)
{
	struct gateway *gateway = context;
	struct error error = { .text = "" };

	if (access_reload(gateway->context.access, &error) != RESULT_OK)
		log_error(log_event("reload_failed"), log_text("error", error.text));
}

static enum result drain(void *context, struct error *error)
{
	const struct gateway *gateway = context;

	(void)error;
	return httpd_drain(gateway->httpd) ? RESULT_NONE : RESULT_OK;
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
	.drain = drain,
};

enum result gateway_create(
	const struct gateway_settings *settings, struct gateway **gateway_out, struct error *error)
{
	struct gateway *gateway = memory_allocate(sizeof(*gateway));
	const struct httpd_settings server = {
		.address = settings->address,
		.routes = routes,
		.refuse = intake_refuse,
		.group = &group_of_writes,
		.context = &gateway->context,
		.body_max = BODY_MAX,
		.connection_max = CONNECTION_MAX,
		.time_limit_ms = TIME_LIMIT_MS,
	};

	gateway->context.settings = settings;
	database_create(&settings->mysql, &gateway->context.database);
	rules_create(RULES_MAX_AGE_MS, &gateway->context.rules);
	creations_create(&gateway->context.creations);
	payments_create(&gateway->context.payments);
	enum result result = access_create(
		settings->tokens_file, settings->api_rate, &gateway->context.access, error);
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
	payments_destroy(&(*gateway)->context.payments);
	creations_destroy(&(*gateway)->context.creations);
	rules_destroy(&(*gateway)->context.rules);
	database_destroy(&(*gateway)->context.database);
	free(*gateway);
	*gateway = NULL;
}

enum result gateway_step(void *context, struct error *error)
{
	struct gateway *gateway = context;

	(void)error;
	database_watch(gateway->context.database);
	httpd_step(gateway->httpd, STEP_WAIT_MS);
	return RESULT_OK;
}
