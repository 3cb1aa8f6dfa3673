/*
 * bench-load - publishes timeouts, drains the queue, watches daemons at work, for bench/run.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/load/drain.h"
#include "bench/load/publish.h"
#include "bench/load/settings.h"
#include "bench/load/watch.h"
#include "common/base/log.h"
#include "common/base/text.h"

enum {
	TIME_LIMIT_MS = 60000,
	COUNT_MAX = 100000000,
	WINDOW = 1000, /* as LAPSE_PUBLISH_WINDOW */
};

static const char usage[] =
	"usage: bench-load publish COUNT MS       a timeout per order, due in MS; 0: at once\n"
	"       bench-load drain PREFETCH ACK     take and ack until the queue is idle\n"
	"       bench-load watch COUNT METRIC [PORT...] [NAME=PID...]\n"
	"                                         until METRIC of all ports together is COUNT\n";

static uint64_t number_of(const char *text)
{
	uint64_t value = 0;

	if (!text_parse_uint(text, 0, COUNT_MAX, &value)) {
		(void)fprintf(stderr, "%s: not a number\n%s", text, usage);
		exit(EXIT_STATUS_USAGE);
	}
	return value;
}

static void print_times(uint64_t start_ms, uint64_t end_ms, uint64_t count)
{
	(void)printf("start_ms %" PRIu64 "\nend_ms %" PRIu64 "\ncount %" PRIu64 "\n", start_ms,
		end_ms, count);
}

static enum result run_publish(char **arguments, struct error *error)
{
	struct load_settings settings = { .amqp = { .url = NULL } };
	struct publish_report report = { .start_ms = 0 };
	const struct publish_request request = { .count = number_of(arguments[0]),
		.remaining_ms = (int64_t)number_of(arguments[1]),
		.window = WINDOW };

	load_settings_read(&settings);
	enum result result = publish_orders(&settings, &request, &report, error);
	print_times(report.start_ms, report.end_ms, request.count);
	load_settings_clear(&settings);
	return result;
}

static enum result run_drain(char **arguments, struct error *error)
{
	struct load_settings settings = { .amqp = { .url = NULL } };
	struct drain_report report = { .count = 0 };
	const struct drain_request request = { .prefetch = (uint16_t)number_of(arguments[0]),
		.ack_every = number_of(arguments[1]) };

	load_settings_read(&settings);
	enum result result = drain_queue(&settings, &request, &report, error);
	print_times(report.start_ms, report.end_ms, report.count);
	load_settings_clear(&settings);
	return result;
}

static void add_watched(struct watch *watch, const char *text)
{
	const char *equals = strchr(text, '=');

	if (equals == NULL) {
		REQUIRE(watch->port_count < WATCH_PORT_MAX);
		watch->ports[watch->port_count++] = (uint16_t)number_of(text);
		return;
	}
	REQUIRE(watch->process_count < WATCH_PROCESS_MAX);
	struct watch_process *process = &watch->processes[watch->process_count++];
	process->pid = (pid_t)number_of(equals + 1);
	(void)text_format(process->name, sizeof(process->name), "%.*s", (int)(equals - text), text);
}

static enum result run_watch(char **arguments, struct error *error)
{
	static struct watch watch;

	watch.count = number_of(arguments[0]);
	watch.metric = arguments[1];
	watch.time_limit_ms = TIME_LIMIT_MS;
	for (int i = 2; arguments[i] != NULL; i++)
		add_watched(&watch, arguments[i]);
	enum result result = watch_run(&watch, error);
	print_times(watch.start_ms, watch.end_ms, watch.done);
	for (int i = 0; i < watch.process_count; i++) {
		const struct watch_process *process = &watch.processes[i];

		(void)printf("process %s %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
			process->name, process->cpu_end_ms - process->cpu_start_ms,
			process->resident_early_kib, process->resident_peak_kib,
			process->resident_last_kib);
	}
	return result;
}

static const struct {
	const char *name;
	int arguments;
	enum result (*run)(char **arguments, struct error *error);
} commands[] = {
	{ "publish", 2, run_publish },
	{ "drain", 2, run_drain },
	{ "watch", 2, run_watch },
};

int main(int argc, char **argv)
{
	struct error error = { .text = "" };

	log_set_level(LOG_LEVEL_WARN);
	for (size_t i = 0; i < ARRAY_LENGTH(commands); i++) {
		if (argc < 2 || !text_equals(argv[1], commands[i].name))
			continue;
		if (argc < commands[i].arguments + 2)
			break;
		if (commands[i].run(argv + 2, &error) == RESULT_OK)
			return EXIT_STATUS_OK;
		(void)fprintf(stderr, "bench-load %s: %s\n", argv[1], error.text);
		return EXIT_STATUS_FAILED;
	}
	(void)fputs(usage, stderr);
	return EXIT_STATUS_USAGE;
}
