#include "common/order/topology.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/io/broker.h"
#include "common/order/topology_internal.h"

enum {
	ENDING_SIZE = 64
};

static_assert(TOPOLOGY_KEY_SIZE == 48, "the header promises 48 bytes");

const char topology_timeout_key[] = "order.timeout";

static void set_name(
	const struct topology *topology, char name[TOPOLOGY_NAME_SIZE], const char *ending)
{
	bool fits = text_format(
		name, TOPOLOGY_NAME_SIZE, "%s.%s", topology->broker_settings->prefix, ending);

	REQUIRE(fits); /* broker_check_settings limits the prefix */
}

void topology_set_level_name(
	const struct topology *topology, char name[TOPOLOGY_NAME_SIZE], int level)
{
	char ending[ENDING_SIZE];

	(void)text_format(ending, sizeof(ending), "delay.%02d", level);
	set_name(topology, name, ending);
}

void topology_set_fixed_name(
	const struct topology *topology, char name[TOPOLOGY_NAME_SIZE], uint64_t ttl_ms)
{
	char ending[ENDING_SIZE];

	(void)text_format(ending, sizeof(ending), "delay.fixed.%" PRIu64, ttl_ms);
	set_name(topology, name, ending);
}

static void add_fixed(struct topology *topology, uint64_t timeout_ms)
{
	uint64_t ttl_ms = timeout_ms - TOPOLOGY_FIXED_LEAD_MS;

	if (timeout_ms <= TOPOLOGY_FIXED_LEAD_MS)
		return;
	for (size_t i = 0; i < topology->fixed_count; i++)
		if (topology->fixed_ms[i] == ttl_ms)
			return;
	topology->fixed_ms[topology->fixed_count++] = ttl_ms;
}

void topology_create(const struct topology_settings *settings,
	const struct broker_settings *broker_settings, struct topology **topology_out)
{
	struct topology *topology = memory_allocate(sizeof(*topology));

	topology->settings = settings;
	topology->broker_settings = broker_settings;
	set_name(topology, topology->due_queue, "timeout.due");
	set_name(topology, topology->parked_queue, "parked");
	set_name(topology, topology->events_exchange, "events");
	set_name(topology, topology->webhooks_queue, "events.webhooks");
	set_name(topology, topology->timeout_exchange, "timeout");
	for (size_t i = 0; i < settings->fixed.count; i++)
		add_fixed(topology, settings->fixed.timeouts_ms[i]);
	/* A row let go at the horizon has nearly the horizon left, so it is common too. */
	if (settings->fixed.count > 0)
		add_fixed(topology, settings->horizon_ms);
	*topology_out = topology;
}

void topology_destroy(struct topology **topology)
{
	free(*topology);
	*topology = NULL;
}

enum topology_mode topology_mode(const struct topology *topology)
{
	return topology->mode;
}

uint64_t topology_delay_max_ms(const struct topology *topology)
{
	return topology_mode_max_ms(topology->mode);
}

const char *topology_due_queue(const struct topology *topology)
{
	return topology->due_queue;
}

const char *topology_parked_queue(const struct topology *topology)
{
	return topology->parked_queue;
}

const char *topology_events_exchange(const struct topology *topology)
{
	return topology->events_exchange;
}

const char *topology_webhooks_queue(const struct topology *topology)
{
	return topology->webhooks_queue;
}

void topology_route_parked(const struct topology *topology, const char *origin, const char *reason,
	struct broker_message *message)
{
	message->exchange = "";
	message->routing_key = topology->parked_queue;
	message->is_mandatory = true;
	message->reason = reason;
	message->origin = origin;
}

int topology_delay_key(uint32_t units, char *key)
{
	int level = 0;

	while (units >> (level + 1) != 0)
		level++;
	for (int bit = 0; bit <= level; bit++) {
		*key++ = (units >> bit & 1) != 0 ? '1' : '0';
		*key++ = bit < level ? '.' : '\0';
	}
	return level;
}

static void route_at_once(const struct topology *topology, struct broker_message *message)
{
	message->exchange = "";
	message->routing_key = topology->due_queue;
	message->is_mandatory = true;
}

static void route_delayed(
	const struct topology *topology, uint64_t remaining_ms, struct broker_message *message)
{
	message->exchange = topology->timeout_exchange;
	message->routing_key = topology_timeout_key;
	/* The delayed exchange reports every delayed message as unroutable. */
	message->is_mandatory = false;
	message->has_delay = true;
	/*
	 * The plugin wakes up for each millisecond in which something is due, some 900 times a
	 * second and no more.  What comes early is held by the consumer.
	 */
	if (remaining_ms > TOPOLOGY_PLUGIN_STEP_MS && remaining_ms < TOPOLOGY_PLUGIN_MAX_MS)
		remaining_ms -= remaining_ms % TOPOLOGY_PLUGIN_STEP_MS;
	message->delay_ms =
		(int64_t)(remaining_ms < TOPOLOGY_PLUGIN_MAX_MS ? remaining_ms
								: TOPOLOGY_PLUGIN_MAX_MS);
}

/* The fixed queue that makes the message least early; false when none is near enough. */
static bool find_fixed(const struct topology *topology, uint64_t remaining_ms, uint64_t *ttl_ms_out)
{
	uint64_t least_early_ms = TOPOLOGY_FIXED_WINDOW_MS + 1;

	for (size_t i = 0; i < topology->fixed_count; i++) {
		uint64_t ttl_ms = topology->fixed_ms[i];

		if (remaining_ms >= ttl_ms && remaining_ms - ttl_ms < least_early_ms) {
			least_early_ms = remaining_ms - ttl_ms;
			*ttl_ms_out = ttl_ms;
		}
	}
	return least_early_ms <= TOPOLOGY_FIXED_WINDOW_MS;
}

static void route_by_levels(
	struct topology *topology, uint64_t remaining_ms, struct broker_message *message)
{
	uint64_t limited_ms =
		remaining_ms < TOPOLOGY_LEVELS_MAX_MS ? remaining_ms : TOPOLOGY_LEVELS_MAX_MS;
	uint32_t units = (uint32_t)(limited_ms / TOPOLOGY_UNIT_MS);
	uint64_t ttl_ms;

	if (units == 0) {
		route_at_once(topology, message);
		return;
	}
	message->exchange = topology->route_exchange;
	message->is_mandatory = true;
	if (find_fixed(topology, remaining_ms, &ttl_ms)) {
		topology_set_fixed_name(topology, topology->route_exchange, ttl_ms);
		message->routing_key = topology_timeout_key;
		return;
	}
	int level = topology_delay_key(units, topology->route_key);
	topology_set_level_name(topology, topology->route_exchange, level);
	message->routing_key = topology->route_key;
}

void topology_route(struct topology *topology, int64_t remaining_ms, struct broker_message *message)
{
	message->has_delay = false;
	if (remaining_ms > 0 && topology->mode == TOPOLOGY_MODE_PLUGIN)
		route_delayed(topology, (uint64_t)remaining_ms, message);
	else if (remaining_ms > 0 && topology->mode == TOPOLOGY_MODE_LEVELS)
		route_by_levels(topology, (uint64_t)remaining_ms, message);
	else
		route_at_once(topology, message);
}
