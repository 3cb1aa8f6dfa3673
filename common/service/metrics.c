#include "common/service/metrics.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/base/result.h"
#include "common/base/text.h"

enum {
	FAMILY_MAX = 64,
	TEXT_FIRST_BYTES = 8192,
	NUMBER_SIZE = 32,
};

/*
 * The cells of one family, series after series.  A counter has one cell with a whole number, a
 * gauge one with the bits of a double, a histogram one per bucket (not cumulated), one for the
 * bucket +Inf, and the bits of the sum.
 */
struct place {
	const struct metric_family *family;
	size_t series_count;
	size_t bound_count;
	size_t cells_per_series;
	_Atomic uint64_t *cells;
};

struct text {
	char *bytes;
	size_t size, capacity;
};

const double metrics_duration_bounds[] = { 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5,
	1, 2.5, 5, 10, 0 };

static struct place places[FAMILY_MAX];
static size_t place_count;

void metrics_open(void)
{
	metrics_close();
}

void metrics_close(void)
{
	for (size_t i = 0; i < place_count; i++)
		free(places[i].cells);
	memset(places, 0, sizeof(places));
	place_count = 0;
}

static const struct place *find_place(const struct metric_family *family)
{
	for (size_t i = 0; i < place_count; i++)
		if (places[i].family == family)
			return &places[i];
	return NULL;
}

static size_t count_series(const struct metric_family *family)
{
	size_t count = 0;

	if (family->series == NULL)
		return 1;
	while (family->series[count] != NULL)
		count++;
	return count;
}

static size_t count_bounds(const struct metric_family *family)
{
	size_t count = 0;

	while (family->type == METRIC_TYPE_HISTOGRAM && family->bounds[count] > 0)
		count++;
	return count;
}

static void register_family(const struct metric_family *family)
{
	REQUIRE(place_count < FAMILY_MAX);
	struct place *place = &places[place_count];

	place->family = family;
	place->series_count = count_series(family);
	place->bound_count = count_bounds(family);
	place->cells_per_series =
		family->type == METRIC_TYPE_HISTOGRAM ? place->bound_count + 2 : 1;
	place->cells = memory_allocate_array(
		place->series_count * place->cells_per_series, sizeof(*place->cells));
	place_count++;
}

void metrics_register(const struct metric_family *families)
{
	for (; families != NULL && families->type != METRIC_TYPE_END; families++)
		if (find_place(families) == NULL)
			register_family(families);
}

/* The cells of one series, NULL for a family that is not registered. */
static _Atomic uint64_t *find_cells(
	const struct metric_family *family, size_t series, const struct place **place_out)
{
	const struct place *place = find_place(family);

	*place_out = place;
	if (place == NULL)
		return NULL;
	REQUIRE(series < place->series_count);
	return place->cells + series * place->cells_per_series;
}

static uint64_t to_bits(double value)
{
	uint64_t bits = 0;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static double from_bits(uint64_t bits)
{
	double value = 0;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

static void count(_Atomic uint64_t *cell, uint64_t amount)
{
	atomic_fetch_add_explicit(cell, amount, memory_order_relaxed);
}

static uint64_t read_cell(const _Atomic uint64_t *cell)
{
	return atomic_load_explicit(cell, memory_order_relaxed);
}

static void add_to_sum(_Atomic uint64_t *cell, double value)
{
	uint64_t before = read_cell(cell);

	while (!atomic_compare_exchange_weak_explicit(cell, &before,
		to_bits(from_bits(before) + value), memory_order_relaxed, memory_order_relaxed))
		;
}

void metrics_add(const struct metric_family *family, size_t series, uint64_t amount)
{
	const struct place *place = NULL;
	_Atomic uint64_t *cells = find_cells(family, series, &place);

	if (cells != NULL)
		count(cells, amount);
}

void metrics_set(const struct metric_family *family, size_t series, double value)
{
	const struct place *place = NULL;
	_Atomic uint64_t *cells = find_cells(family, series, &place);

	if (cells != NULL)
		atomic_store_explicit(cells, to_bits(value), memory_order_relaxed);
}

void metrics_observe(const struct metric_family *family, size_t series, double value)
{
	const struct place *place = NULL;
	_Atomic uint64_t *cells = find_cells(family, series, &place);
	size_t bucket = 0;

	if (cells == NULL)
		return;
	while (bucket < place->bound_count && value > family->bounds[bucket])
		bucket++;
	count(cells + bucket, 1);
	add_to_sum(cells + place->bound_count + 1, value);
}

uint64_t metrics_count(const struct metric_family *family, size_t series)
{
	const struct place *place = NULL;
	const _Atomic uint64_t *cells = find_cells(family, series, &place);

	return cells == NULL ? 0 : read_cell(cells);
}

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
		if (to_bits(strtod(target, NULL)) == to_bits(value))
			return;
	}
}

static const char *type_word(enum metric_type type)
{
	switch (type) {
	case METRIC_TYPE_COUNTER:
	case METRIC_TYPE_MEASURED:
		return "counter";
	case METRIC_TYPE_GAUGE:
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
static void append_histogram(struct text *text, const struct place *place,
	const _Atomic uint64_t *cells, const char *labels)
{
	const char *name = place->family->name;
	char number[NUMBER_SIZE];
	uint64_t so_far = 0;

	for (size_t i = 0; i < place->bound_count; i++) {
		so_far += read_cell(cells + i);
		format_number(number, place->family->bounds[i]);
		append_bucket(text, name, labels, number, so_far);
	}
	so_far += read_cell(cells + place->bound_count);
	append_bucket(text, name, labels, "+Inf", so_far);
	format_number(number, from_bits(read_cell(cells + place->bound_count + 1)));
	append_sample(text, name, "_sum", labels, number);
	(void)text_format(number, sizeof(number), "%" PRIu64, so_far);
	append_sample(text, name, "_count", labels, number);
}

static void append_series(struct text *text, const struct place *place, size_t series)
{
	const struct metric_family *family = place->family;
	const _Atomic uint64_t *cells = place->cells + series * place->cells_per_series;
	const char *labels = family->series == NULL ? "" : family->series[series];
	char number[NUMBER_SIZE];

	switch (family->type) {
	case METRIC_TYPE_HISTOGRAM:
		append_histogram(text, place, cells, labels);
		return;
	case METRIC_TYPE_COUNTER:
		(void)text_format(number, sizeof(number), "%" PRIu64, read_cell(cells));
		break;
	case METRIC_TYPE_MEASURED:
	case METRIC_TYPE_GAUGE:
		format_number(number, from_bits(read_cell(cells)));
		break;
	case METRIC_TYPE_END:
		return;
	}
	append_sample(text, family->name, "", labels, number);
}

char *metrics_write(size_t *size_out)
{
	struct text text = { 0 };

	append(&text, "", 0);
	for (size_t i = 0; i < place_count; i++) {
		const struct metric_family *family = places[i].family;

		APPEND(&text, "# HELP ", family->name, " ");
		append_help(&text, family->help);
		APPEND(&text, "\n# TYPE ", family->name, " ", type_word(family->type), "\n");
		for (size_t series = 0; series < places[i].series_count; series++)
			append_series(&text, &places[i], series);
	}
	*size_out = text.size;
	return text.bytes;
}
