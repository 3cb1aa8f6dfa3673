/*
 * bench-api - calls a gateway and prints how many calls were answered when, and how long they took.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/load/api.h"
#include "common/base/text.h"

static const char usage[] =
	"usage: bench-api PORT create|pay COUNT CLIENTS RATE PREFIX\n"
	"RATE calls a second, or 0: as fast as it answers.  PREFIX of the orders.\n"
	"LAPSE_NOTIFY_SECRET signs the notices.\n";

static uint64_t number_of(const char *text, uint64_t maximum)
{
	uint64_t value = 0;

	if (!text_parse_uint(text, 0, maximum, &value)) {
		(void)fprintf(stderr, "%s: not a number\n%s", text, usage);
		exit(EXIT_STATUS_USAGE);
	}
	return value;
}

static uint32_t quantile(const struct api_report *report, uint64_t count, uint64_t per_mille)
{
	return count == 0 ? 0 : report->times[(count - 1) * per_mille / 1000];
}

int main(int argc, char **argv)
{
	struct api_report report = { .good = 0 };
	struct error error = { .text = "" };
	struct api_plan plan = { .secret = getenv("LAPSE_NOTIFY_SECRET") };

	if (argc != 7) {
		(void)fputs(usage, stderr);
		return EXIT_STATUS_USAGE;
	}
	plan.port = (uint16_t)number_of(argv[1], UINT16_MAX);
	plan.pays = text_equals(argv[2], "pay");
	plan.count = number_of(argv[3], API_COUNT_MAX);
	plan.clients = (int)number_of(argv[4], API_CLIENT_MAX);
	plan.rate = number_of(argv[5], API_COUNT_MAX);
	plan.prefix = argv[6];
	if (plan.secret == NULL)
		plan.secret = "";
	if (api_run(&plan, &report, &error) != RESULT_OK) {
		(void)fprintf(stderr, "bench-api: %s\n", error.text);
		free(report.times);
		return EXIT_STATUS_FAILED;
	}
	(void)printf("start_ms %" PRIu64 "\nend_ms %" PRIu64 "\ncount %" PRIu64 "\ngood %" PRIu64
		     "\np50_us %" PRIu32 "\np99_us %" PRIu32 "\nmost_us %" PRIu32 "\n",
		report.start_ms, report.end_ms, plan.count, report.good,
		quantile(&report, plan.count, 500), quantile(&report, plan.count, 990),
		quantile(&report, plan.count, 1000));
	free(report.times);
	return EXIT_STATUS_OK;
}
