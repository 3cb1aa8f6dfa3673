/* The page of metrics: all families as Prometheus text (0.0.4). */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/service/metrics.h"
#include "common/service/metrics_internal.h"

enum {
	TEXT_FIRST_BYTES = 8192,
	NUMBER_SIZE = 32,
};

struct text {
	char *bytes;
	size_t size, capacity;
};

static void append(struct text *text, const char *bytes, size_t size)
{
	if (text->size + size + 1 > text->capacity) {
		text->capacity = (text->size + size) * 2 + TEXT_FIRST_BYTES;
		text->bytes = memory_resize_array(text->bytes, text->capacity, 1);
	}
	memcpy(text->bytes + text->size, bytes, size);
	text->size += size;
	text->bytes[text->size] = '\0';
}

static void append_all(struct text *text, const char *const *parts, size_t part_count)
{
	for (size_t i = 0; i < part_count; i++)
		append(text, parts[i], strlen(parts[i]));
}

#define APPEND(text, ...)                                      \
	append_all(text, (const char *const[]){ __VA_ARGS__ }, \
		sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(const char *))

/* The shortest form that reads back as the same number. */
static void format_number(char target[NUMBER_SIZE], double value)
{
	if (isnan(value)) {
		(void)text_copy(target, NUMBER_SIZE, "NaN");
		return;
	}
	if (isinf(value)) {
		(void)text_copy(target, NUMBER_SIZE, value > 0 ? "+Inf" : "-Inf");
		return;
	}
	for (int digits = 15; digits <= 17; digits++) {
		(void)text_format(target, NUMBER_SIZE, "%.*g", digits, value);
		if (metric_to_bits(strtod(target, NULL)) == metric_to_bits(value))
			return;
	}
}

static const char *type_word(enum metric_type type)
{
	switch (type) {
	case METRIC_TYPE_COUNTER:
	case METRIC_TYPE_MEASURED:
	case METRIC_TYPE_KNOWN_COUNTER:
		return "counter";
	case METRIC_TYPE_GAUGE:
	case METRIC_TYPE_KNOWN_GAUGE:
		return "gauge";
	case METRIC_TYPE_HISTOGRAM:
		return "histogram";
	case METRIC_TYPE_END:
		break;
	}
	return "untyped";
}

static void append_help(struct text *text, const char *help)
{
	for (const char *c = help; *c != '\0'; c++) {
		if (*c == '\\')
			append(text, "\\\\", 2);
		else if (*c == '\n')
			append(text, "\\n", 2);
		else
			append(text, c, 1);
	}
}

bool metrics_write_label(char *target, size_t target_size, const char *name, const char *value)
{
	struct text text = { 0 };

	APPEND(&text, name, "=\"");
	for (const char *c = value; *c != '\0'; c++) {
		if (*c == '\\' || *c == '"')
			append(&text, "\\", 1);
		if (*c == '\n')
			append(&text, "\\n", 2);
		else
			append(&text, c, 1);
	}
	APPEND(&text, "\"");
	bool fits = text_copy(target, target_size, text.bytes);
	free(text.bytes);
	return fits;
}

/* name suffix {labels} value */
static void append_sample(struct text *text, const char *name, const char *suffix,
	const char *labels, const char *value)
{
	APPEND(text, name, suffix);
	if (labels[0] != '\0')
		APPEND(text, "{", labels, "}");
	APPEND(text, " ", value, "\n");
}

static void append_bucket(
	struct text *text, const char *name, const char *labels, const char *bound, uint64_t so_far)
{
	char value[NUMBER_SIZE];

	(void)text_format(value, sizeof(value), "%" PRIu64, so_far);
	APPEND(text, name, "_bucket{", labels, labels[0] == '\0' ? "" : ",", "le=\"", bound, "\"} ",
		value, "\n");
}

/* _count is what the buckets add up to, so that both agree while others go on counting. */
static void append_histogram(struct text *text, const struct metric_place *place,
	const _Atomic uint64_t *cells, const char *labels)
{
	const char *name = place->family->name;
	char number[NUMBER_SIZE];
	uint64_t so_far = 0;

	for (size_t i = 0; i < place->bound_count; i++) {
		so_far += metric_read_cell(cells + i);
		format_number(number, place->family->bounds[i]);
		append_bucket(text, name, labels, number, so_far);
	}
	so_far += metric_read_cell(cells + place->bound_count);
	append_bucket(text, name, labels, "+Inf", so_far);
	format_number(number, metric_from_bits(metric_read_cell(cells + place->bound_count + 1)));
	append_sample(text, name, "_sum", labels, number);
	(void)text_format(number, sizeof(number), "%" PRIu64, so_far);
	append_sample(text, name, "_count", labels, number);
}

/* HELP and TYPE once, in front of the first series that is there. */
static void append_head(struct text *text, const struct metric_family *family)
{
	APPEND(text, "# HELP ", family->name, " ");
	append_help(text, family->help);
	APPEND(text, "\n# TYPE ", family->name, " ", type_word(family->type), "\n");
}

/* bits: what stood in the first cell, read once. */
static void append_series(
	struct text *text, const struct metric_place *place, size_t series, uint64_t bits)
{
	const struct metric_family *family = place->family;
	const char *labels = family->series == NULL ? "" : family->series[series];
	char number[NUMBER_SIZE];

	switch (family->type) {
	case METRIC_TYPE_HISTOGRAM:
		append_histogram(
			text, place, place->cells + series * place->cells_per_series, labels);
		return;
	case METRIC_TYPE_COUNTER:
	case METRIC_TYPE_KNOWN_COUNTER:
		(void)text_format(number, sizeof(number), "%" PRIu64, bits);
		break;
	case METRIC_TYPE_MEASURED:
	case METRIC_TYPE_GAUGE:
	case METRIC_TYPE_KNOWN_GAUGE:
		format_number(number, metric_from_bits(bits));
		break;
	case METRIC_TYPE_END:
		return;
	}
	append_sample(text, family->name, "", labels, number);
}

static void append_family(struct text *text, const struct metric_place *place)
{
	bool has_head = false;

	for (size_t series = 0; series < place->series_count; series++) {
		uint64_t bits = metric_read_cell(place->cells + series * place->cells_per_series);

		if (metric_is_optional(place->family) && bits == METRIC_ABSENT_BITS)
			continue;
		if (!has_head)
			append_head(text, place->family);
		has_head = true;
		append_series(text, place, series, bits);
	}
}

char *metrics_write(size_t *size_out)
{
	struct text text = { 0 };
	size_t place_count = 0;
	const struct metric_place *places = metrics_places(&place_count);

	append(&text, "", 0);
	for (size_t i = 0; i < place_count; i++)
		append_family(&text, &places[i]);
	*size_out = text.size;
	return text.bytes;
}
