#include "common/report/contract.h"

#include "common/base/log.h"
#include "common/service/metrics.h"

static const char *const check_names[] = { "close_count", "close_early", "lease" };
static const char *const check_series[] = { "check=\"close_count\"", "check=\"close_early\"",
	"check=\"lease\"", NULL };

static const struct metric_family families[] = {
	{ .type = METRIC_TYPE_COUNTER,
		.name = "lapse_contract_violations_total",
		.help = "Broken promises that were seen and rolled back; must stay 0.",
		.series = check_series },
	METRIC_END,
};

void contract_register(void)
{
	metrics_register(families);
}

void contract_count(enum contract_check check, uint64_t count)
{
	metrics_add(&families[0], check, count);
	if (count > 0)
		log_error(log_event("contract_violation"), log_text("check", check_names[check]),
			log_uint("count", count));
}
