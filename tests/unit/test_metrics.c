/* metrics: the exact text, and counting from many threads. */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <check.h>

#include "common/base/compiler.h"
#include "common/service/metrics.h"
#include "tests/support/runner.h"

static const char *const two[] = { "what=\"a\"", "what=\"b\"", NULL };
static const double bounds[] = { 0.005, 1, 2.5, 14400, 0 };

static const struct metric_family families[] = {
	{ .type = METRIC_TYPE_COUNTER,
		.name = "t_things_total",
		.help = "All\\things\nseen.",
		.series = two },
	{ .type = METRIC_TYPE_GAUGE, .name = "t_level", .help = "Level." },
	{ .type = METRIC_TYPE_HISTOGRAM,
		.name = "t_lag_seconds",
		.help = "Lag.",
		.series = two,
		.bounds = bounds },
	{ .type = METRIC_TYPE_MEASURED, .name = "t_cpu_seconds_total", .help = "CPU." },
	METRIC_END,
};
static const struct metric_family unknown = { .type = METRIC_TYPE_COUNTER, .name = "t_unknown" };

static char *write_all(void)
{
	size_t size = 0;
	char *text = metrics_write(&size);

	ck_assert_uint_eq(strlen(text), size);
	return text;
}

static void check_has(const char *line)
{
	char *text = write_all();

	ck_assert_msg(strstr(text, line) != NULL, "no \"%s\" in\n%s", line, text);
	free(text);
}

static void open_metrics(void)
{
	metrics_open();
	metrics_register(families);
}

static void close_metrics(void)
{
	metrics_close();
}

START_TEST(every_series_is_there_with_0_before_anything_happens)
{
	char *text = write_all();

	ck_assert_str_eq(text, "# HELP t_things_total All\\\\things\\nseen.\n"
			       "# TYPE t_things_total counter\n"
			       "t_things_total{what=\"a\"} 0\n"
			       "t_things_total{what=\"b\"} 0\n"
			       "# HELP t_level Level.\n"
			       "# TYPE t_level gauge\n"
			       "t_level 0\n"
			       "# HELP t_lag_seconds Lag.\n"
			       "# TYPE t_lag_seconds histogram\n"
			       "t_lag_seconds_bucket{what=\"a\",le=\"0.005\"} 0\n"
			       "t_lag_seconds_bucket{what=\"a\",le=\"1\"} 0\n"
			       "t_lag_seconds_bucket{what=\"a\",le=\"2.5\"} 0\n"
			       "t_lag_seconds_bucket{what=\"a\",le=\"14400\"} 0\n"
			       "t_lag_seconds_bucket{what=\"a\",le=\"+Inf\"} 0\n"
			       "t_lag_seconds_sum{what=\"a\"} 0\n"
			       "t_lag_seconds_count{what=\"a\"} 0\n"
			       "t_lag_seconds_bucket{what=\"b\",le=\"0.005\"} 0\n"
			       "t_lag_seconds_bucket{what=\"b\",le=\"1\"} 0\n"
			       "t_lag_seconds_bucket{what=\"b\",le=\"2.5\"} 0\n"
			       "t_lag_seconds_bucket{what=\"b\",le=\"14400\"} 0\n"
			       "t_lag_seconds_bucket{what=\"b\",le=\"+Inf\"} 0\n"
			       "t_lag_seconds_sum{what=\"b\"} 0\n"
			       "t_lag_seconds_count{what=\"b\"} 0\n"
			       "# HELP t_cpu_seconds_total CPU.\n"
			       "# TYPE t_cpu_seconds_total counter\n"
			       "t_cpu_seconds_total 0\n");
	free(text);
}
END_TEST

START_TEST(buckets_are_cumulated_and_inf_equals_count)
{
	metrics_observe(&families[2], 1, 0.005); /* a bound belongs to its bucket */
	metrics_observe(&families[2], 1, 0.0051);
	metrics_observe(&families[2], 1, 2.5);
	metrics_observe(&families[2], 1, 1e9);
	metrics_observe(&families[2], 1, -1); /* a clock that went back */
	check_has("t_lag_seconds_bucket{what=\"b\",le=\"0.005\"} 2\n"
		  "t_lag_seconds_bucket{what=\"b\",le=\"1\"} 3\n"
		  "t_lag_seconds_bucket{what=\"b\",le=\"2.5\"} 4\n"
		  "t_lag_seconds_bucket{what=\"b\",le=\"14400\"} 4\n"
		  "t_lag_seconds_bucket{what=\"b\",le=\"+Inf\"} 5\n"
		  "t_lag_seconds_sum{what=\"b\"} 1000000001.5101\n"
		  "t_lag_seconds_count{what=\"b\"} 5\n");
	check_has("t_lag_seconds_count{what=\"a\"} 0\n");
}
END_TEST

START_TEST(numbers_are_written_as_they_are)
{
	metrics_add(&families[0], 0, UINT64_MAX);
	check_has("t_things_total{what=\"a\"} 18446744073709551615\n");
	metrics_set(&families[1], 0, 0.1);
	check_has("t_level 0.1\n");
	metrics_set(&families[1], 0, 1796048873.25);
	check_has("t_level 1796048873.25\n");
	metrics_set(&families[1], 0, 1.0 / 3);
	check_has("t_level 0.3333333333333333\n");
	metrics_set(&families[1], 0, -2);
	check_has("t_level -2\n");
	metrics_set(&families[1], 0, (double)INFINITY);
	check_has("t_level +Inf\n");
	metrics_set(&families[1], 0, (double)-INFINITY);
	check_has("t_level -Inf\n");
	metrics_set(&families[1], 0, (double)NAN);
	check_has("t_level NaN\n");
	metrics_set(&families[3], 0, 1.25);
	check_has("t_cpu_seconds_total 1.25\n");
}
END_TEST

START_TEST(a_family_that_is_not_registered_is_ignored)
{
	metrics_add(&unknown, 0, 1);
	metrics_set(&unknown, 0, 1);
	metrics_observe(&unknown, 0, 1);
	ck_assert_uint_eq(metrics_count(&unknown, 0), 0);
	char *text = write_all();
	ck_assert_ptr_null(strstr(text, "t_unknown"));
	free(text);
}
END_TEST

START_TEST(registering_twice_keeps_one_family_and_its_count)
{
	metrics_add(&families[0], 1, 7);
	metrics_register(families);
	metrics_register(NULL);
	ck_assert_uint_eq(metrics_count(&families[0], 1), 7);
	char *text = write_all();
	const char *first = strstr(text, "# TYPE t_things_total");
	ck_assert_ptr_nonnull(first);
	ck_assert_ptr_null(strstr(first + 1, "# TYPE t_things_total"));
	free(text);
}
END_TEST

START_TEST(a_label_is_escaped)
{
	char label[64];
	char small[8];

	ck_assert(metrics_write_label(label, sizeof(label), "target", "a\\b\"c\nd"));
	ck_assert_str_eq(label, "target=\"a\\\\b\\\"c\\nd\"");
	ck_assert(!metrics_write_label(small, sizeof(small), "target", "host"));
}
END_TEST

static char late_label[32];
static const char *const optional_series[] = { "what=\"a\"", late_label, NULL };
static const struct metric_family optional_families[] = {
	{ .type = METRIC_TYPE_KNOWN_GAUGE,
		.name = "t_known",
		.help = "Known.",
		.series = optional_series },
	{ .type = METRIC_TYPE_KNOWN_COUNTER,
		.name = "t_seen_total",
		.help = "Seen.",
		.series = optional_series },
	METRIC_END,
};

static void check_lacks(const char *words)
{
	char *text = write_all();

	ck_assert_msg(strstr(text, words) == NULL, "\"%s\" in\n%s", words, text);
	free(text);
}

START_TEST(a_figure_that_is_not_known_is_not_there)
{
	metrics_register(optional_families);
	check_lacks("t_known");
	metrics_set(&optional_families[0], 0, 0);
	check_has("# TYPE t_known gauge\nt_known{what=\"a\"} 0\n");
	metrics_set(&optional_families[0], 0, (double)NAN);
	check_has("t_known{what=\"a\"} NaN\n");
	metrics_drop(&optional_families[0], 0);
	check_lacks("t_known");
	metrics_set(&optional_families[0], 0, 7);
	metrics_drop_all(&optional_families[0]);
	check_lacks("t_known");
}
END_TEST

START_TEST(a_series_may_come_later_with_a_label_of_its_own)
{
	metrics_register(optional_families);
	metrics_show(&optional_families[1], 0);
	metrics_add(&optional_families[1], 0, 2);
	metrics_add(&optional_families[1], 1, 5);
	check_has("# TYPE t_seen_total counter\nt_seen_total{what=\"a\"} 2\n");
	check_lacks("t_seen_total{}");
	ck_assert(metrics_write_label(late_label, sizeof(late_label), "what", "b"));
	metrics_show(&optional_families[1], 1);
	check_has("t_seen_total{what=\"a\"} 2\nt_seen_total{what=\"b\"} 0\n");
	metrics_add(&optional_families[1], 1, 1);
	metrics_show(&optional_families[1], 1);
	check_has("t_seen_total{what=\"b\"} 1\n");
	late_label[0] = '\0';
}
END_TEST

START_TEST(no_registry_is_an_empty_page)
{
	metrics_close();
	char *text = write_all();
	ck_assert_str_eq(text, "");
	free(text);
}
END_TEST

enum {
	THREADS = 4,
	ROUNDS = 20000
};

static void *count_much(void *context)
{
	(void)context;
	for (int i = 0; i < ROUNDS; i++) {
		metrics_add(&families[0], 0, 1);
		metrics_observe(&families[2], 0, 2);
		metrics_set(&families[1], 0, i);
	}
	return NULL;
}

START_TEST(nothing_is_lost_when_many_threads_count)
{
	pthread_t threads[THREADS];

	for (size_t i = 0; i < THREADS; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, count_much, NULL), 0);
	for (int i = 0; i < 50; i++)
		free(write_all());
	for (size_t i = 0; i < THREADS; i++)
		ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
	check_has("t_things_total{what=\"a\"} 80000\n");
	check_has("t_lag_seconds_sum{what=\"a\"} 160000\n"
		  "t_lag_seconds_count{what=\"a\"} 80000\n");
}
END_TEST

int main(void)
{
	static const struct runner_fixture fixture = { open_metrics, close_metrics };
	const TTest *const tests[] = {
		every_series_is_there_with_0_before_anything_happens,
		buckets_are_cumulated_and_inf_equals_count,
		numbers_are_written_as_they_are,
		a_family_that_is_not_registered_is_ignored,
		registering_twice_keeps_one_family_and_its_count,
		a_label_is_escaped,
		a_figure_that_is_not_known_is_not_there,
		a_series_may_come_later_with_a_label_of_its_own,
		no_registry_is_an_empty_page,
		nothing_is_lost_when_many_threads_count,
	};

	return runner_run_with("metrics", &fixture, tests, ARRAY_LENGTH(tests));
}
