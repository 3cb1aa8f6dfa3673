#include <string.h>

#include "common/base/text.h"
#include "common/io/broker.h"
#include "common/order/topology.h"
#include "common/order/topology_internal.h"
#include "tests/support/runner.h"

static const struct broker_settings broker_settings = { .prefix = (char[]){ "lapse" } };
static const struct topology_settings settings = {
	.fixed = { { MINUTES(15), MINUTES(30), MINUTES(60) }, 3 },
	.horizon_ms = MINUTES(60),
};

static struct topology *create(enum topology_mode mode)
{
	struct topology *topology = NULL;

	topology_create(&settings, &broker_settings, &topology);
	topology->mode = mode; /* as after topology_declare */
	return topology;
}

struct key_case {
	uint32_t units;
	int level;
	const char *key;
};

START_TEST(a_delay_key_has_its_lowest_bit_first_and_ends_with_the_highest)
{
	static const struct key_case cases[] = {
		{ 1, 0, "1" },
		{ 2, 1, "0.1" },
		{ 3, 1, "1.1" },
		{ 4, 2, "0.0.1" },
		{ 10, 3, "0.1.0.1" },
		{ 18000, 14, "0.0.0.0.1.0.1.0.0.1.1.0.0.0.1" },
		{ 1 << 23, 23, "0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.1" },
		{ (1 << 24) - 1, 23, "1.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1" },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
		char key[TOPOLOGY_KEY_SIZE];

		ck_assert_int_eq(topology_delay_key(cases[i].units, key), cases[i].level);
		ck_assert_str_eq(key, cases[i].key);
	}
}
END_TEST

/* What the queues do with a key: each 1 at place n waits 2^n units. */
static uint64_t units_of_key(const char *key)
{
	uint64_t units = 0;

	for (size_t place = 0; key[2 * place] != '\0'; place++) {
		units += key[2 * place] == '1' ? UINT64_C(1) << place : 0;
		if (key[2 * place + 1] == '\0')
			break;
	}
	return units;
}

START_TEST(the_levels_of_a_key_add_up_to_the_delay)
{
	for (int i = 0; i < 10000; i++) {
		uint32_t units = (uint32_t)runner_random((1 << 24) - 2) + 1;
		char key[TOPOLOGY_KEY_SIZE];

		(void)topology_delay_key(units, key);
		ck_assert_uint_eq(units_of_key(key), units);
	}
}
END_TEST

struct route_case {
	int64_t remaining_ms;
	const char *exchange;
	const char *key;
	bool is_mandatory;
	bool has_delay;
	int64_t delay_ms;
};

static void check_route(struct topology *topology, const struct route_case *one)
{
	struct broker_message message = { .has_delay = !one->has_delay };

	topology_route(topology, one->remaining_ms, &message);
	ck_assert_str_eq(message.exchange, one->exchange);
	ck_assert_str_eq(message.routing_key, one->key);
	ck_assert_int_eq(message.is_mandatory, one->is_mandatory);
	ck_assert_int_eq(message.has_delay, one->has_delay);
	if (one->has_delay)
		ck_assert_int_eq(message.delay_ms, one->delay_ms);
}

static void check_routes(enum topology_mode mode, const struct route_case *cases, size_t count)
{
	struct topology *topology = create(mode);

	for (size_t i = 0; i < count; i++)
		check_route(topology, &cases[i]);
	topology_destroy(&topology);
}

START_TEST(the_plugin_gets_the_remaining_time_rounded_down_and_never_the_mandatory_flag)
{
	static const struct route_case cases[] = {
		{ INT64_MIN, "", "lapse.timeout.due", true, false, 0 },
		{ -1, "", "lapse.timeout.due", true, false, 0 },
		{ 0, "", "lapse.timeout.due", true, false, 0 },
		{ 1, "lapse.timeout", "order.timeout", false, true, 1 },
		{ 50, "lapse.timeout", "order.timeout", false, true, 50 },
		{ 99, "lapse.timeout", "order.timeout", false, true, 50 },
		{ 1800000, "lapse.timeout", "order.timeout", false, true, 1800000 },
		{ 1800049, "lapse.timeout", "order.timeout", false, true, 1800000 },
		{ 2147483647, "lapse.timeout", "order.timeout", false, true, 2147483647 },
		{ 2147483648, "lapse.timeout", "order.timeout", false, true, 2147483647 },
		{ INT64_MAX, "lapse.timeout", "order.timeout", false, true, 2147483647 },
	};

	check_routes(TOPOLOGY_MODE_PLUGIN, cases, ARRAY_LENGTH(cases));
}
END_TEST

START_TEST(the_levels_round_down_to_the_unit_and_stop_at_the_most_they_can_hold)
{
	static const char most[] = "1.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1";
	static const struct route_case cases[] = {
		{ -5000, "", "lapse.timeout.due", true, false, 0 },
		{ 0, "", "lapse.timeout.due", true, false, 0 },
		{ 99, "", "lapse.timeout.due", true, false, 0 },
		{ 100, "lapse.delay.00", "1", true, false, 0 },
		{ 199, "lapse.delay.00", "1", true, false, 0 },
		{ 200, "lapse.delay.01", "0.1", true, false, 0 },
		{ 1000, "lapse.delay.03", "0.1.0.1", true, false, 0 },
		{ 1677721500, "lapse.delay.23", most, true, false, 0 },
		{ 1677721501, "lapse.delay.23", most, true, false, 0 },
		{ INT64_MAX, "lapse.delay.23", most, true, false, 0 },
	};

	check_routes(TOPOLOGY_MODE_LEVELS, cases, ARRAY_LENGTH(cases));
}
END_TEST

START_TEST(a_common_timeout_takes_its_fixed_queue_when_it_fits_the_window)
{
	static const struct route_case cases[] = {
		{ 1799799, "lapse.delay.14", "1.0.1.1.0.0.1.0.0.1.1.0.0.0.1", true, false, 0 },
		{ 1799800, "lapse.delay.fixed.1799800", "order.timeout", true, false, 0 },
		{ 1800000, "lapse.delay.fixed.1799800", "order.timeout", true, false, 0 },
		{ 1800100, "lapse.delay.fixed.1799800", "order.timeout", true, false, 0 },
		{ 1800101, "lapse.delay.14", "1.0.0.0.1.0.1.0.0.1.1.0.0.0.1", true, false, 0 },
		{ 899800, "lapse.delay.fixed.899800", "order.timeout", true, false, 0 },
		{ 3599990, "lapse.delay.fixed.3599800", "order.timeout", true, false, 0 },
	};

	check_routes(TOPOLOGY_MODE_LEVELS, cases, ARRAY_LENGTH(cases));
}
END_TEST

START_TEST(without_a_mode_everything_goes_to_the_due_queue)
{
	static const struct route_case cases[] = {
		{ -1, "", "lapse.timeout.due", true, false, 0 },
		{ 1800000, "", "lapse.timeout.due", true, false, 0 },
	};

	check_routes(TOPOLOGY_MODE_NONE, cases, ARRAY_LENGTH(cases));
	check_routes(TOPOLOGY_MODE_AUTO, cases, ARRAY_LENGTH(cases));
}
END_TEST

START_TEST(the_nearest_of_two_fixed_queues_is_taken)
{
	const struct topology_settings near = { .fixed = { { 5000, 5100 }, 2 },
		.horizon_ms = 5100 };
	struct topology *topology = NULL;
	struct broker_message message = { 0 };

	topology_create(&near, &broker_settings, &topology);
	topology->mode = TOPOLOGY_MODE_LEVELS;
	ck_assert_uint_eq(topology->fixed_count, 2); /* the horizon is one of them already */
	topology_route(topology, 4950, &message);
	ck_assert_str_eq(message.exchange, "lapse.delay.fixed.4900");
	topology_route(topology, 4899, &message);
	ck_assert_str_eq(message.exchange, "lapse.delay.fixed.4800");
	topology_destroy(&topology);
}
END_TEST

START_TEST(the_horizon_has_a_fixed_queue_unless_they_are_off)
{
	struct topology_settings other = { .fixed = { { 5000 }, 1 }, .horizon_ms = 7000 };
	struct topology *topology = NULL;
	struct broker_message message = { 0 };

	topology_create(&other, &broker_settings, &topology);
	topology->mode = TOPOLOGY_MODE_LEVELS;
	topology_route(topology, 6990, &message);
	ck_assert_str_eq(message.exchange, "lapse.delay.fixed.6800");
	topology_destroy(&topology);

	other.fixed.count = 0;
	topology_create(&other, &broker_settings, &topology);
	topology->mode = TOPOLOGY_MODE_LEVELS;
	topology_route(topology, 6990, &message);
	ck_assert_str_eq(message.exchange, "lapse.delay.06");
	topology_destroy(&topology);
}
END_TEST

START_TEST(every_name_begins_with_the_prefix)
{
	const struct broker_settings other = { .prefix = (char[]){ "shop.a" } };
	struct topology *topology = NULL;
	struct broker_message message = { 0 };

	topology_create(&settings, &other, &topology);
	ck_assert_str_eq(topology_due_queue(topology), "shop.a.timeout.due");
	ck_assert_str_eq(topology_parked_queue(topology), "shop.a.parked");
	ck_assert_str_eq(topology_events_exchange(topology), "shop.a.events");
	topology->mode = TOPOLOGY_MODE_PLUGIN;
	topology_route(topology, 5, &message);
	ck_assert_str_eq(message.exchange, "shop.a.timeout");
	topology->mode = TOPOLOGY_MODE_LEVELS;
	topology_route(topology, 500, &message);
	ck_assert_str_eq(message.exchange, "shop.a.delay.02");
	topology_destroy(&topology);
}
END_TEST

START_TEST(the_longest_delay_depends_on_the_mode)
{
	struct topology *topology = create(TOPOLOGY_MODE_AUTO);

	ck_assert_uint_eq(topology_delay_max_ms(topology), 1677721500);
	topology->mode = TOPOLOGY_MODE_PLUGIN;
	ck_assert_uint_eq(topology_delay_max_ms(topology), 2147483647);
	topology->mode = TOPOLOGY_MODE_LEVELS;
	ck_assert_uint_eq(topology_delay_max_ms(topology), 1677721500);
	ck_assert_int_eq(topology_mode(topology), TOPOLOGY_MODE_LEVELS);
	topology_destroy(&topology);
	topology_destroy(&topology);
}
END_TEST

/* Reads the settings from one assignment; returns the number of mistakes. */
static size_t read_settings(const char *assignment, struct topology_settings *read_out)
{
	char copy[256];
	char *environment[] = { copy, NULL };
	struct settings_report *report = settings_report_create();

	ck_assert(text_copy(copy, sizeof(copy), assignment));
	struct settings_source *source = settings_source_create(environment, NULL, report);
	memset(read_out, 0, sizeof(*read_out));
	settings_read(topology_settings_table, source, read_out, report);
	if (settings_report_count(report) == 0)
		topology_check_settings(read_out, report);
	size_t count = settings_report_count(report);
	settings_source_destroy(&source);
	settings_report_destroy(&report);
	return count;
}

START_TEST(settings_have_the_defaults_of_the_contract)
{
	struct topology_settings read;

	ck_assert_uint_eq(read_settings("LAPSE_PREFETCH=1", &read), 0);
	ck_assert_int_eq(read.delay, TOPOLOGY_MODE_AUTO);
	ck_assert_uint_eq(read.fixed.count, 3);
	ck_assert_uint_eq(read.fixed.timeouts_ms[0], 900000);
	ck_assert_uint_eq(read.fixed.timeouts_ms[2], 3600000);
	ck_assert_uint_eq(read.horizon_ms, 3600000);
}
END_TEST

START_TEST(fixed_timeouts_can_be_listed_or_turned_off)
{
	struct topology_settings read;

	ck_assert_uint_eq(read_settings("LAPSE_DELAY_FIXED=off", &read), 0);
	ck_assert_uint_eq(read.fixed.count, 0);
	ck_assert_uint_eq(read_settings("LAPSE_DELAY_FIXED=5s", &read), 0);
	ck_assert_uint_eq(read.fixed.count, 1);
	ck_assert_uint_eq(read.fixed.timeouts_ms[0], 5000);
	ck_assert_uint_eq(read_settings("LAPSE_DELAY=none", &read), 0);
	ck_assert_int_eq(read.delay, TOPOLOGY_MODE_NONE);
}
END_TEST

static void keep_fixed(void *context, const char *name, const char *value)
{
	if (strcmp(name, "LAPSE_DELAY_FIXED") == 0)
		(void)text_format(context, 64, "%s", value);
}

START_TEST(common_timeouts_are_told_as_they_are_written)
{
	static const char *const lists[] = { "15m,30m,1h", "90s", "off" };
	struct topology_settings read;
	char assignment[64];
	char told[64];

	for (size_t i = 0; i < ARRAY_LENGTH(lists); i++) {
		(void)text_format(assignment, sizeof(assignment), "LAPSE_DELAY_FIXED=%s", lists[i]);
		ck_assert_uint_eq(read_settings(assignment, &read), 0);
		settings_each(topology_settings_table, &read, keep_fixed, told);
		ck_assert_str_eq(told, lists[i]);
	}
}
END_TEST

START_TEST(a_wrong_setting_is_a_mistake)
{
	static const char *const assignments[] = {
		"LAPSE_DELAY=sometimes",
		"LAPSE_DELAY_FIXED=15m,",
		"LAPSE_DELAY_FIXED=,15m",
		"LAPSE_DELAY_FIXED=15",
		"LAPSE_DELAY_FIXED=15m;30m",
		"LAPSE_DELAY_FIXED=15m, 30m",
		"LAPSE_DELAY_FIXED=999ms",
		"LAPSE_DELAY_FIXED=20d",
		"LAPSE_DELAY_FIXED=0s",
		"LAPSE_DELAY_FIXED=1s,2s,3s,4s,5s,6s,7s,8s,9s,10s,11s,12s,13s,14s,15s,16s,17s",
		"LAPSE_DELAY_HORIZON=25d",
		"LAPSE_DELAY_HORIZON=20d", /* too far for the levels, which auto may choose */
		"LAPSE_DELAY_HORIZON=0s",
	};
	struct topology_settings read;

	for (size_t i = 0; i < ARRAY_LENGTH(assignments); i++)
		ck_assert_msg(read_settings(assignments[i], &read) == 1, "%s", assignments[i]);
}
END_TEST

START_TEST(a_horizon_that_only_the_plugin_can_hold_is_fine_with_the_plugin)
{
	struct settings_report *report = settings_report_create();
	struct topology_settings far = { .horizon_ms = DAYS(20) };

	far.delay = TOPOLOGY_MODE_PLUGIN;
	topology_check_settings(&far, report);
	far.delay = TOPOLOGY_MODE_NONE;
	topology_check_settings(&far, report);
	ck_assert_uint_eq(settings_report_count(report), 0);
	far.delay = TOPOLOGY_MODE_LEVELS;
	topology_check_settings(&far, report);
	ck_assert_uint_eq(settings_report_count(report), 1);
	ck_assert_str_eq(settings_report_get(report, 0),
		"LAPSE_DELAY_HORIZON: 20d is more than LAPSE_DELAY=levels can hold, which is 19d");
	settings_report_destroy(&report);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		a_delay_key_has_its_lowest_bit_first_and_ends_with_the_highest,
		the_levels_of_a_key_add_up_to_the_delay,
		the_plugin_gets_the_remaining_time_rounded_down_and_never_the_mandatory_flag,
		the_levels_round_down_to_the_unit_and_stop_at_the_most_they_can_hold,
		a_common_timeout_takes_its_fixed_queue_when_it_fits_the_window,
		without_a_mode_everything_goes_to_the_due_queue,
		the_nearest_of_two_fixed_queues_is_taken,
		the_horizon_has_a_fixed_queue_unless_they_are_off,
		every_name_begins_with_the_prefix,
		the_longest_delay_depends_on_the_mode,
		settings_have_the_defaults_of_the_contract,
		fixed_timeouts_can_be_listed_or_turned_off,
		common_timeouts_are_told_as_they_are_written,
		a_wrong_setting_is_a_mistake,
		a_horizon_that_only_the_plugin_can_hold_is_fine_with_the_plugin,
	};

	return runner_run("topology", tests, ARRAY_LENGTH(tests));
}
