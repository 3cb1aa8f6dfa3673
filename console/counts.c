#include "console/counts.h"

#include <assert.h>

#include "common/base/memory.h"
#include "common/base/text.h"

enum {
	SERIES_SIZE = 128,
	ROUTES_MAX = 64,
	OTHER = 0, /* the place of what no route takes */
};

enum family {
	FAMILY_ACTS,
	FAMILY_AUTH,
	FAMILY_COUNT,
};

/* The codes this program answers with; what is not here is counted as 500. */
static const unsigned int codes[] = { 200, 202, 303, 400, 401, 403, 404, 405, 409, 413, 422, 429,
	500, 503 };

enum {
	CODE_COUNT = sizeof(codes) / sizeof(codes[0]),
	CODE_500 = CODE_COUNT - 2
};

static const char *const actions[] = { "requeue", "resolve", "cancel", "extend", "replay",
	"discard", "rule_add", "rule_end", "silence", "resend", "test", "export", "unmask",
	"other" };

enum {
	ACTION_COUNT = sizeof(actions) / sizeof(actions[0])
};

#define ACTS(action)                                                                         \
	"action=\"" action "\",result=\"done\"", "action=\"" action "\",result=\"invalid\"", \
		"action=\"" action "\",result=\"forbidden\"",                                \
		"action=\"" action "\",result=\"not_found\"",                                \
		"action=\"" action "\",result=\"conflict\"",                                 \
		"action=\"" action "\",result=\"refused\"",                                  \
		"action=\"" action "\",result=\"failed\""

static const char *const act_series[] = { ACTS("requeue"), ACTS("resolve"), ACTS("cancel"),
	ACTS("extend"), ACTS("replay"), ACTS("discard"), ACTS("rule_add"), ACTS("rule_end"),
	ACTS("silence"), ACTS("resend"), ACTS("test"), ACTS("export"), ACTS("unmask"),
	ACTS("other"), NULL };

static_assert(ARRAY_LENGTH(act_series) == ACTION_COUNT * ACT_OUTCOME_COUNT + 1,
	"one series for each outcome of each act");

static const char *const auth_series[] = { "method=\"basic\"", "method=\"token\"",
	"method=\"proxy\"", "method=\"signature\"", NULL };

const struct metric_family counts_metrics[] = {
	[FAMILY_ACTS] = { .type = METRIC_TYPE_COUNTER,
		.name = "lapse_operator_actions_total",
		.help = "Acts by hand, by what came of them.",
		.series = act_series },
	[FAMILY_AUTH] = { .type = METRIC_TYPE_COUNTER,
		.name = "lapse_auth_failures_total",
		.help = "Log-ins refused.",
		.series = auth_series },
	[FAMILY_COUNT] = METRIC_END,
};

/* The set of series is fixed by the routes, and made once: families[0] by code, families[1]. */
static struct {
	const char *labels[ROUTES_MAX];
	size_t label_count;
	const char *request_series[ROUTES_MAX * CODE_COUNT + 1];
	const char *route_series[ROUTES_MAX + 1];
	struct metric_family families[3];
} requests;

static size_t place_of_label(const char *label)
{
	for (size_t i = 0; i < requests.label_count; i++)
		if (text_equals(requests.labels[i], label))
			return i;
	return requests.label_count;
}

static void add_label(const char *label)
{
	size_t place = requests.label_count++;
	char series[SERIES_SIZE];

	REQUIRE(place < ROUTES_MAX);
	requests.labels[place] = label;
	(void)text_format(series, sizeof(series), "route=\"%s\"", label);
	requests.route_series[place] = memory_copy_text(series);
	for (size_t i = 0; i < CODE_COUNT; i++) {
		(void)text_format(
			series, sizeof(series), "route=\"%s\",code=\"%u\"", label, codes[i]);
		requests.request_series[place * CODE_COUNT + i] = memory_copy_text(series);
	}
}

void counts_register_routes(const struct route *routes)
{
	add_label("other");
	for (const struct route *route = routes; route->path != NULL; route++)
		if (place_of_label(route->label) == requests.label_count)
			add_label(route->label);
	requests.families[0] = (struct metric_family){ .type = METRIC_TYPE_COUNTER,
		.name = "lapse_http_requests_total",
		.help = "Requests answered.",
		.series = requests.request_series };
	requests.families[1] = (struct metric_family){ .type = METRIC_TYPE_HISTOGRAM,
		.name = "lapse_http_request_duration_seconds",
		.help = "Time to answer a request that has arrived.",
		.series = requests.route_series,
		.bounds = metrics_duration_bounds };
	requests.families[2] = (struct metric_family)METRIC_END;
	metrics_register(requests.families);
}

static size_t place_of_code(unsigned int status)
{
	for (size_t i = 0; i < CODE_COUNT; i++)
		if (codes[i] == status)
			return i;
	return CODE_500;
}

void counts_add_request(const struct route *route, unsigned int status, uint64_t duration_us)
{
	size_t place = route == NULL ? OTHER : place_of_label(route->label);

	metrics_add(&requests.families[0], place * CODE_COUNT + place_of_code(status), 1);
	metrics_observe(&requests.families[1], place, (double)duration_us / 1e6);
}

void counts_add_act(const char *action, enum act_outcome outcome)
{
	size_t place = 0;

	while (place + 1 < ACTION_COUNT && !text_equals(actions[place], action))
		place++;
	metrics_add(&counts_metrics[FAMILY_ACTS], place * ACT_OUTCOME_COUNT + outcome, 1);
}

void counts_add_auth_failure(enum role_auth method)
{
	metrics_add(&counts_metrics[FAMILY_AUTH], method, 1);
}
