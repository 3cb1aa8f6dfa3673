#include "common/service/vital_signs.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/text.h"
#include "common/service/metrics.h"
#include "common/service/ops.h"
#include "common/service/process_metrics.h"
#include "common/service/service.h"
#include "version.h"

enum {
	LABELS_SIZE = 256,
	DEPENDENCY_MAX = 2,
};

struct check_name {
	enum service_check check;
	const char *name;
	const char *labels; /* NULL: no dependency but a part of the program */
};

static const struct check_name check_names[] = {
	{ SERVICE_CHECK_MYSQL, "mysql", "dependency=\"mysql\"" },
	{ SERVICE_CHECK_AMQP, "amqp", "dependency=\"amqp\"" },
	{ SERVICE_CHECK_HTTP, "http", NULL },
};

/* Filled once, when the program and its dependencies are known. */
static char build_labels[LABELS_SIZE];
static const char *build_series[] = { build_labels, NULL };
static const char *dependency_series[DEPENDENCY_MAX + 1];

static const struct metric_family build_families[] = {
	{ .type = METRIC_TYPE_GAUGE,
		.name = "lapse_build_info",
		.help = "Always 1; the labels say what is running.",
		.series = build_series },
	{ .type = METRIC_TYPE_GAUGE,
		.name = "lapse_loop_last_turn_timestamp_seconds",
		.help = "When the loop last turned, since 1970." },
	METRIC_END,
};

static const struct metric_family dependency_families[] = {
	{ .type = METRIC_TYPE_GAUGE,
		.name = "lapse_dependency_up",
		.help = "1 while the connection is well.",
		.series = dependency_series },
	{ .type = METRIC_TYPE_COUNTER,
		.name = "lapse_reconnects_total",
		.help = "Connections that were lost and built again.",
		.series = dependency_series },
	METRIC_END,
};

static void append_label(const char *name, const char *value)
{
	size_t length = strlen(build_labels);

	if (length > 0)
		build_labels[length++] = ',';
	(void)metrics_write_label(
		build_labels + length, sizeof(build_labels) - length, name, value);
}

static void describe_build(const char *program)
{
	char schema[16];

	(void)text_format(schema, sizeof(schema), "%d", LAPSE_SCHEMA_VERSION);
	build_labels[0] = '\0';
	append_label("program", program);
	append_label("version", LAPSE_VERSION);
	append_label("revision", LAPSE_REVISION);
	append_label("schema", schema);
}

void vital_signs_open(const char *program, unsigned int checks)
{
	size_t count = 0;

	for (size_t i = 0; i < ARRAY_LENGTH(check_names); i++) {
		if ((checks & (unsigned int)check_names[i].check) == 0)
			continue;
		ops_add_check(check_names[i].name);
		if (check_names[i].labels != NULL)
			dependency_series[count++] = check_names[i].labels;
	}
	dependency_series[count] = NULL;
	ops_set_last_words(vital_signs_log_metrics);
	describe_build(program);
	metrics_register(build_families);
	metrics_set(&build_families[0], 0, 1);
	if (count > 0)
		metrics_register(dependency_families);
}

void vital_signs_note_turn(void)
{
	metrics_set(&build_families[1], 0, (double)clock_epoch_ms() / 1000);
}

static const struct check_name *find_name(enum service_check check)
{
	for (size_t i = 0; i < ARRAY_LENGTH(check_names); i++)
		if (check_names[i].check == check)
			return &check_names[i];
	return NULL;
}

/* The series of a check; false when it has none or the program did not ask for it. */
static bool find_series(const struct check_name *name, size_t *series_out)
{
	for (size_t i = 0; name != NULL && dependency_series[i] != NULL; i++) {
		if (dependency_series[i] == name->labels) {
			*series_out = i;
			return true;
		}
	}
	return false;
}

void vital_signs_set_check(enum service_check check, bool is_well, const char *text)
{
	const struct check_name *name = find_name(check);
	size_t series = 0;

	if (name == NULL)
		return;
	ops_set_check(name->name, is_well, text);
	if (find_series(name, &series))
		metrics_set(&dependency_families[0], series, is_well ? 1 : 0);
}

void vital_signs_note_reconnect(enum service_check check)
{
	size_t series = 0;

	if (find_series(find_name(check), &series))
		metrics_add(&dependency_families[1], series, 1);
}

static void log_sample(char *line)
{
	char *value = strrchr(line, ' ');

	if (line[0] == '#' || value == NULL || strstr(line, "_bucket{") != NULL)
		return;
	*value++ = '\0';
	if (!text_equals(value, "0"))
		log_info(log_event("dump_metric"), log_text("series", line),
			log_text("value", value));
}

void vital_signs_log_metrics(void)
{
	size_t size = 0;

	process_metrics_update();
	char *text = metrics_write(&size);
	char *line = text;

	for (char *end = strchr(line, '\n'); end != NULL; end = strchr(line, '\n')) {
		*end = '\0';
		log_sample(line);
		line = end + 1;
	}
	free(text);
}
