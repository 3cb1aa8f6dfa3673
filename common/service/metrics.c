#include "common/service/metrics.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/base/result.h"
#include "common/service/metrics_internal.h"

enum {
	FAMILY_MAX = 64,
};

const double metrics_duration_bounds[] = { 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5,
	1, 2.5, 5, 10, 0 };

static struct metric_place places[FAMILY_MAX];
static _Atomic size_t place_count; /* a family counts once it is whole */

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

static const struct metric_place *find_place(const struct metric_family *family)
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
	struct metric_place *place = &places[place_count];

	place->family = family;
	place->series_count = count_series(family);
	place->bound_count = count_bounds(family);
	place->cells_per_series =
		family->type == METRIC_TYPE_HISTOGRAM ? place->bound_count + 2 : 1;
	place->cells = memory_allocate_array(
		place->series_count * place->cells_per_series, sizeof(*place->cells));
	for (size_t i = 0; metric_is_optional(family) && i < place->series_count; i++)
		place->cells[i * place->cells_per_series] = METRIC_ABSENT_BITS;
	place_count++; /* last: from here on it is shown */
}

void metrics_register(const struct metric_family *families)
{
	for (; families != NULL && families->type != METRIC_TYPE_END; families++)
		if (find_place(families) == NULL)
			register_family(families);
}

/* The cells of one series, NULL for a family that is not registered. */
static _Atomic uint64_t *find_cells(
	const struct metric_family *family, size_t series, const struct metric_place **place_out)
{
	const struct metric_place *place = find_place(family);

	*place_out = place;
	if (place == NULL)
		return NULL;
	REQUIRE(series < place->series_count);
	return place->cells + series * place->cells_per_series;
}

static void count(_Atomic uint64_t *cell, uint64_t amount)
{
	atomic_fetch_add_explicit(cell, amount, memory_order_relaxed);
}

static void add_to_sum(_Atomic uint64_t *cell, double value)
{
	uint64_t before = metric_read_cell(cell);

	while (!atomic_compare_exchange_weak_explicit(cell, &before,
		metric_to_bits(metric_from_bits(before) + value), memory_order_relaxed,
		memory_order_relaxed))
		;
}

void metrics_add(const struct metric_family *family, size_t series, uint64_t amount)
{
	const struct metric_place *place = NULL;
	_Atomic uint64_t *cells = find_cells(family, series, &place);

	if (cells != NULL &&
		(!metric_is_optional(family) || metric_read_cell(cells) != METRIC_ABSENT_BITS))
		count(cells, amount);
}

void metrics_set(const struct metric_family *family, size_t series, double value)
{
	const struct metric_place *place = NULL;
	_Atomic uint64_t *cells = find_cells(family, series, &place);

	/* Whoever sees the value sees the label that was written before it. */
	if (cells != NULL)
		atomic_store_explicit(cells, metric_to_bits(value), memory_order_release);
}

void metrics_show(const struct metric_family *family, size_t series)
{
	const struct metric_place *place = NULL;
	_Atomic uint64_t *cells = find_cells(family, series, &place);
	uint64_t absent = METRIC_ABSENT_BITS;

	if (cells != NULL)
		(void)atomic_compare_exchange_strong(cells, &absent, 0);
}

void metrics_drop(const struct metric_family *family, size_t series)
{
	const struct metric_place *place = NULL;
	_Atomic uint64_t *cells = find_cells(family, series, &place);

	if (cells == NULL)
		return;
	REQUIRE(metric_is_optional(family));
	atomic_store_explicit(cells, METRIC_ABSENT_BITS, memory_order_relaxed);
}

void metrics_drop_all(const struct metric_family *family)
{
	const struct metric_place *place = find_place(family);

	for (size_t series = 0; place != NULL && series < place->series_count; series++)
		metrics_drop(family, series);
}

void metrics_observe(const struct metric_family *family, size_t series, double value)
{
	const struct metric_place *place = NULL;
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
	const struct metric_place *place = NULL;
	const _Atomic uint64_t *cells = find_cells(family, series, &place);

	return cells == NULL ? 0 : metric_read_cell(cells);
}

const struct metric_place *metrics_places(size_t *count_out)
{
	*count_out = place_count;
	return places;
}
