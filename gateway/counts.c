#include "gateway/counts.h"

#include <assert.h>

#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/io/httpd.h"

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
	CODE_500 = CODE_COUNT - 2,
	HELD_MAX = 2 * HTTPD_GROUP_MAX, /* a request and its payment each */
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

/* What waits for its group to be committed. */
struct held {
	enum family family;
	size_t series;           /* of a payment or a refusal */
	enum counts_route route; /* of a request, with the next two */
	unsigned int status;
	uint64_t start_us;
};

static struct held held[HELD_MAX];
static size_t held_count;
static bool is_holding;

static size_t place_of_code(unsigned int status)
{
	for (size_t i = 0; i < CODE_COUNT; i++)
		if (codes[i] == status)
			return i;
	return CODE_500;
}

static void count_request(const struct held *request)
{
	metrics_add(&counts_metrics[FAMILY_REQUESTS],
		(size_t)request->route * CODE_COUNT + place_of_code(request->status), 1);
	metrics_observe(&counts_metrics[FAMILY_DURATION], request->route,
		(double)(clock_now_us() - request->start_us) / 1e6);
}

static void count(const struct held *what)
{
	if (what->family == FAMILY_REQUESTS)
		count_request(what);
	else
		metrics_add(&counts_metrics[what->family], what->series, 1);
}

static void add(const struct held *what)
{
	if (!is_holding) {
		count(what);
		return;
	}
	REQUIRE(held_count < HELD_MAX);
	held[held_count++] = *what;
}

void counts_add_request(enum counts_route route, unsigned int status, uint64_t start_us)
{
	const struct held request = {
		.family = FAMILY_REQUESTS, .route = route, .status = status, .start_us = start_us
	};

	add(&request);
}

void counts_add_payment(enum payment_outcome outcome, bool is_repeated)
{
	const struct held payment = { .family = FAMILY_PAYMENTS,
		.series = is_repeated ? PAYMENT_OUTCOME_UNKNOWN_ORDER + 1 : (size_t)outcome };

	add(&payment);
}

void counts_hold(void)
{
	is_holding = true;
}

void counts_release(bool are_true)
{
	for (size_t i = 0; i < held_count && are_true; i++)
		count(&held[i]);
	held_count = 0;
	is_holding = false;
}

void counts_add_auth_failure(enum counts_auth method)
{
	const struct held failure = { .family = FAMILY_AUTH, .series = method };

	add(&failure);
}
