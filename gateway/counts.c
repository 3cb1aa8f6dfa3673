#include "gateway/counts.h"

#include <assert.h>

enum family {
	FAMILY_REQUESTS,
	FAMILY_DURATION,
	FAMILY_PAYMENTS,
	FAMILY_AUTH,
	FAMILY_COUNT,
};

/* The codes this program answers with; what is not here is counted as 500. */
static const unsigned int codes[] = { 200, 201, 400, 401, 403, 404, 405, 409, 413, 429, 500, 503 };

enum {
	CODE_COUNT = sizeof(codes) / sizeof(codes[0]),
	CODE_500 = CODE_COUNT - 2
};

#define CREATE "route=\"/v1/orders\""
#define READ   "route=\"/v1/orders/{order_no}\""
#define CANCEL "route=\"/v1/orders/{order_no}/cancel\""
#define NOTIFY "route=\"/v1/payments/notify\""
#define OTHER  "route=\"other\""

#define BY_CODE(route)                                                               \
	route ",code=\"200\"", route ",code=\"201\"", route ",code=\"400\"",         \
		route ",code=\"401\"", route ",code=\"403\"", route ",code=\"404\"", \
		route ",code=\"405\"", route ",code=\"409\"", route ",code=\"413\"", \
		route ",code=\"429\"", route ",code=\"500\"", route ",code=\"503\""

static const char *const request_series[] = { BY_CODE(CREATE), BY_CODE(READ), BY_CODE(CANCEL),
	BY_CODE(NOTIFY), BY_CODE(OTHER), NULL };
static const char *const route_series[] = { CREATE, READ, CANCEL, NOTIFY, OTHER, NULL };

static_assert(ARRAY_LENGTH(request_series) == CODE_COUNT * (COUNTS_ROUTE_OTHER + 1) + 1,
	"one series for each code of each route");

static const char *const payment_series[] = { "outcome=\"applied\"", "outcome=\"late\"",
	"outcome=\"duplicate\"", "outcome=\"mismatch\"", "outcome=\"unknown_order\"",
	"outcome=\"repeated\"", NULL };
static const char *const auth_series[] = { "method=\"basic\"", "method=\"token\"",
	"method=\"proxy\"", "method=\"signature\"", NULL };

const struct metric_family counts_metrics[] = {
	[FAMILY_REQUESTS] = { METRIC_TYPE_COUNTER, "lapse_http_requests_total",
		"Requests answered.", request_series, NULL },
	[FAMILY_DURATION] = { METRIC_TYPE_HISTOGRAM, "lapse_http_request_duration_seconds",
		"Time to answer a request that has arrived.", route_series,
		metrics_duration_bounds },
	[FAMILY_PAYMENTS] = { METRIC_TYPE_COUNTER, "lapse_payments_total",
		"Payment notices, by what came of them.", payment_series, NULL },
	[FAMILY_AUTH] = { METRIC_TYPE_COUNTER, "lapse_auth_failures_total",
		"Requests refused for their token or signature.", auth_series, NULL },
	[FAMILY_COUNT] = METRIC_END,
};

static size_t place_of_code(unsigned int status)
{
	for (size_t i = 0; i < CODE_COUNT; i++)
		if (codes[i] == status)
			return i;
	return CODE_500;
}

void counts_add_request(enum counts_route route, unsigned int status, uint64_t duration_us)
{
	metrics_add(&counts_metrics[FAMILY_REQUESTS],
		(size_t)route * CODE_COUNT + place_of_code(status), 1);
	metrics_observe(&counts_metrics[FAMILY_DURATION], route, (double)duration_us / 1e6);
}

void counts_add_payment(enum payment_outcome outcome, bool is_repeated)
{
	metrics_add(&counts_metrics[FAMILY_PAYMENTS],
		is_repeated ? PAYMENT_OUTCOME_UNKNOWN_ORDER + 1 : (size_t)outcome, 1);
}

void counts_add_auth_failure(enum counts_auth method)
{
	metrics_add(&counts_metrics[FAMILY_AUTH], method, 1);
}
