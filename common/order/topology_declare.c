#include <string.h>

#include "common/base/log.h"
#include "common/base/text.h"
#include "common/io/broker.h"
#include "common/order/topology.h"
#include "common/order/topology_internal.h"

enum {
	PATTERN_SIZE = 2 * TOPOLOGY_LEVELS + 4,
	DELIVERY_LIMIT = 20,
	TYPE_SIZE = 64,
	REPLY_PRECONDITION_FAILED = 406,
	REPLY_COMMAND_INVALID = 503,
};

static const char delayed_type[] = "x-delayed-message";

/* ---- what has been declared */

static struct topology_declared *find_declared(
	struct topology *topology, const struct broker *broker)
{
	for (size_t i = 0; i < TOPOLOGY_DECLARED_MAX; i++)
		if (topology->declared[i].broker == broker)
			return &topology->declared[i];
	return NULL;
}

static bool is_declared(
	struct topology *topology, const struct broker *broker, enum topology_part part)
{
	const struct topology_declared *declared = find_declared(topology, broker);

	return declared != NULL && declared->epoch == broker_epoch(broker) &&
	       (declared->parts & (unsigned int)part) != 0;
}

static void mark_declared(
	struct topology *topology, const struct broker *broker, enum topology_part part)
{
	struct topology_declared *declared = find_declared(topology, broker);

	if (declared == NULL) {
		declared = &topology->declared[topology->declared_next];
		topology->declared_next = (topology->declared_next + 1) % TOPOLOGY_DECLARED_MAX;
		declared->broker = broker;
		declared->epoch = 0;
	}
	if (declared->epoch != broker_epoch(broker))
		declared->parts = 0;
	declared->epoch = broker_epoch(broker);
	declared->parts |= (unsigned int)part;
}

/* ---- declaring */

/* Nothing works without its queue, wherever it is. */
static enum result declare_quorum_queue(struct broker *broker, const char *name,
	const struct broker_argument *arguments, size_t count, struct error *error)
{
	enum result result = broker_declare_queue(broker, name, arguments, count, error);

	return result == RESULT_NONE ? RESULT_TEMPORARY : result;
}

/* What a consumer reads.  A message that is given up goes to the parked queue. */
static enum result declare_read_queue(struct topology *topology, struct broker *broker,
	const char *name, bool keeps_order, struct error *error)
{
	const struct broker_argument arguments[] = {
		{ .name = "x-queue-type", .text = "quorum" },
		{ .name = "x-delivery-limit", .number = DELIVERY_LIMIT },
		/* All four together, or a message that is given up may be lost on the way. */
		{ .name = "x-dead-letter-exchange", .text = "" },
		{ .name = "x-dead-letter-routing-key", .text = topology->parked_queue },
		{ .name = "x-dead-letter-strategy", .text = "at-least-once" },
		{ .name = "x-overflow", .text = "reject-publish" },
		{ .name = "x-single-active-consumer", .is_flag = true },
	};
	size_t count = ARRAY_LENGTH(arguments) - (keeps_order ? 0 : 1);

	return declare_quorum_queue(broker, name, arguments, count, error);
}

/* What every reader needs: where it parks, and where events go. */
static enum result declare_ends(
	struct topology *topology, struct broker *broker, struct error *error)
{
	const struct broker_argument parked[] = { { .name = "x-queue-type", .text = "classic" } };
	enum result result = broker_declare_queue(
		broker, topology->parked_queue, parked, ARRAY_LENGTH(parked), error);

	/* Parking waits for its node; everything else does not. */
	if (result == RESULT_NONE) {
		log_warn(log_event("parked_queue_away"), log_text("queue", topology->parked_queue));
		result = RESULT_OK;
	}
	if (result == RESULT_OK)
		result = broker_declare_exchange(
			broker, topology->events_exchange, "topic", NULL, 0, error);
	return result;
}

enum result topology_declare_due(
	struct topology *topology, struct broker *broker, struct error *error)
{
	if (is_declared(topology, broker, TOPOLOGY_PART_DUE))
		return RESULT_OK;
	enum result result = declare_ends(topology, broker, error);
	if (result == RESULT_OK)
		result = declare_read_queue(topology, broker, topology->due_queue, false, error);
	if (result == RESULT_OK)
		mark_declared(topology, broker, TOPOLOGY_PART_DUE);
	return result;
}

enum result topology_declare_events(
	struct topology *topology, struct broker *broker, struct error *error)
{
	if (is_declared(topology, broker, TOPOLOGY_PART_EVENTS))
		return RESULT_OK;
	enum result result = declare_ends(topology, broker, error);
	if (result == RESULT_OK)
		result =
			declare_read_queue(topology, broker, topology->webhooks_queue, true, error);
	if (result == RESULT_OK)
		result = broker_bind_queue(
			broker, topology->webhooks_queue, topology->events_exchange, "#", error);
	if (result == RESULT_OK)
		mark_declared(topology, broker, TOPOLOGY_PART_EVENTS);
	return result;
}

/* A queue that only waits: one time to live, then on to exchange; key NULL keeps the key. */
static enum result declare_delay_queue(struct broker *broker, const char *name, uint64_t ttl_ms,
	const char *exchange, const char *key, struct error *error)
{
	const struct broker_argument arguments[] = {
		{ .name = "x-queue-type", .text = "quorum" },
		{ .name = "x-message-ttl", .number = (int64_t)ttl_ms },
		{ .name = "x-dead-letter-strategy", .text = "at-least-once" },
		{ .name = "x-overflow", .text = "reject-publish" },
		{ .name = "x-dead-letter-exchange", .text = exchange },
		{ .name = "x-dead-letter-routing-key", .text = key },
	};
	size_t count = ARRAY_LENGTH(arguments) - (key == NULL ? 1 : 0);

	return declare_quorum_queue(broker, name, arguments, count, error);
}

/* "*.*.1.#": the word at place level is bit. */
static void set_pattern(char pattern[PATTERN_SIZE], int level, char bit)
{
	char *place = pattern;

	for (int i = 0; i < level; i++) {
		*place++ = '*';
		*place++ = '.';
	}
	*place++ = bit;
	memcpy(place, ".#", sizeof(".#"));
}

static enum result bind_level(const struct topology *topology, struct broker *broker, int level,
	const char *name, struct error *error)
{
	char below[TOPOLOGY_NAME_SIZE];
	char pattern[PATTERN_SIZE];

	set_pattern(pattern, level, '1');
	enum result result = broker_bind_queue(broker, name, name, pattern, error);
	if (result != RESULT_OK)
		return result;
	set_pattern(pattern, level, '0');
	if (level == 0)
		return broker_bind_queue(broker, topology->due_queue, name, pattern, error);
	topology_set_level_name(topology, below, level - 1);
	return broker_bind_exchange(broker, below, name, pattern, error);
}

static enum result declare_level(
	const struct topology *topology, struct broker *broker, int level, struct error *error)
{
	char name[TOPOLOGY_NAME_SIZE];
	char below[TOPOLOGY_NAME_SIZE] = ""; /* the default exchange */
	uint64_t ttl_ms = (uint64_t)TOPOLOGY_UNIT_MS << level;

	topology_set_level_name(topology, name, level);
	if (level > 0)
		topology_set_level_name(topology, below, level - 1);
	enum result result = broker_declare_exchange(broker, name, "topic", NULL, 0, error);
	if (result == RESULT_OK)
		result = declare_delay_queue(broker, name, ttl_ms, below,
			level == 0 ? topology->due_queue : NULL, error);
	if (result == RESULT_OK)
		result = bind_level(topology, broker, level, name, error);
	return result;
}

static enum result declare_fixed(const struct topology *topology, struct broker *broker,
	uint64_t ttl_ms, struct error *error)
{
	char name[TOPOLOGY_NAME_SIZE];

	topology_set_fixed_name(topology, name, ttl_ms);
	enum result result = broker_declare_exchange(broker, name, "fanout", NULL, 0, error);
	if (result == RESULT_OK)
		result = declare_delay_queue(broker, name, ttl_ms, "", topology->due_queue, error);
	if (result == RESULT_OK)
		result = broker_bind_queue(broker, name, name, "", error);
	return result;
}

static enum result declare_levels(
	const struct topology *topology, struct broker *broker, struct error *error)
{
	enum result result = RESULT_OK;

	for (int level = 0; level < TOPOLOGY_LEVELS && result == RESULT_OK; level++)
		result = declare_level(topology, broker, level, error);
	for (size_t i = 0; i < topology->fixed_count && result == RESULT_OK; i++)
		result = declare_fixed(topology, broker, topology->fixed_ms[i], error);
	return result;
}

static enum result declare_timeout_exchange(
	const struct topology *topology, struct broker *broker, struct error *error)
{
	const struct broker_argument arguments[] = { { .name = "x-delayed-type",
		.text = "direct" } };

	return broker_declare_exchange(broker, topology->timeout_exchange, delayed_type, arguments,
		ARRAY_LENGTH(arguments), error);
}

/* ---- does the broker offer the delayed exchange? */

/* "... received 'x-delayed-message' but current is 'direct'": the last word without its quotes. */
static bool find_other_type(const char *reply, char *type, size_t type_size)
{
	static const char words[] = "current is ";
	const char *place = strstr(reply, words);

	if (place == NULL || strstr(reply, "'type'") == NULL)
		return false;
	place += strlen(words);
	place += strspn(place, "'");
	(void)text_clip(type, type_size, place, strcspn(place, "'"));
	return true;
}

static enum result say_refusal(
	const struct topology *topology, const struct broker *probe, struct error *error)
{
	const char *reply = broker_refusal_text(probe);
	char type[TYPE_SIZE];

	if (find_other_type(reply, type, sizeof(type)))
		return error_set(RESULT_PERMANENT, error,
			"exchange %s must be of type %s, but it exists with type %s",
			topology->timeout_exchange, delayed_type, type);
	if (strstr(reply, "inequivalent") != NULL)
		return error_set(RESULT_PERMANENT, error,
			"exchange %s exists with another property: %s", topology->timeout_exchange,
			reply);
	return error_set(RESULT_PERMANENT, error,
		"exchange %s must be of type %s, which this broker (%s) does not offer",
		topology->timeout_exchange, delayed_type, broker_server(probe));
}

/* The probe was refused: levels in mode auto, else one clear sentence. */
static enum result judge_refusal(const struct topology *topology, const struct broker *probe,
	enum topology_mode *mode_out, struct error *error)
{
	uint16_t code = broker_refusal_code(probe);

	/* 503 ends the connection up to 3.13.0, 406 the channel on later ones. */
	if (code != REPLY_PRECONDITION_FAILED && code != REPLY_COMMAND_INVALID)
		return RESULT_PERMANENT;
	(void)say_refusal(topology, probe, error);
	if (topology->settings->delay == TOPOLOGY_MODE_PLUGIN)
		return RESULT_PERMANENT;
	if (strstr(broker_refusal_text(probe), "inequivalent") != NULL)
		log_warn(log_event("delay_exchange_taken"), log_text("error", error->text));
	*mode_out = TOPOLOGY_MODE_LEVELS;
	return RESULT_OK;
}

/* On a connection of its own, since a refusal may cost the connection. */
static enum result probe_delayed_exchange(
	const struct topology *topology, enum topology_mode *mode_out, struct error *error)
{
	struct error reason = { 0 };
	struct broker *probe = NULL;

	broker_create(topology->broker_settings, "lapse-probe", &probe);
	enum result result = broker_ensure_connected(probe, &reason);
	if (result == RESULT_OK)
		result = declare_timeout_exchange(topology, probe, &reason);
	if (result == RESULT_OK)
		*mode_out = TOPOLOGY_MODE_PLUGIN;
	else if (result == RESULT_PERMANENT)
		result = judge_refusal(topology, probe, mode_out, &reason);
	if (result != RESULT_OK)
		(void)error_set(result, error, "%s", reason.text);
	broker_disconnect(probe);
	broker_destroy(&probe);
	return result;
}

static void set_mode(
	struct topology *topology, enum topology_mode mode, const struct broker *broker)
{
	if (mode != topology->mode)
		log_info(log_event("delay_mode"), log_text("mode", topology_mode_names[mode]),
			log_text("broker", broker_server(broker)));
	topology->mode = mode;
}

static enum result declare_way(struct topology *topology, struct broker *broker,
	enum topology_mode mode, struct error *error)
{
	switch (mode) {
	case TOPOLOGY_MODE_PLUGIN:
		/* The exchange is there: the probe has declared it. */
		return broker_bind_queue(broker, topology->due_queue, topology->timeout_exchange,
			topology_timeout_key, error);
	case TOPOLOGY_MODE_LEVELS:
		return declare_levels(topology, broker, error);
	case TOPOLOGY_MODE_AUTO:
	case TOPOLOGY_MODE_NONE:
		break;
	}
	return RESULT_OK;
}

enum result topology_declare(struct topology *topology, struct broker *broker, struct error *error)
{
	enum topology_mode mode = (enum topology_mode)topology->settings->delay;

	enum result result = topology_declare_due(topology, broker, error);
	if (result != RESULT_OK || is_declared(topology, broker, TOPOLOGY_PART_WAY))
		return result;
	if (mode == TOPOLOGY_MODE_AUTO || mode == TOPOLOGY_MODE_PLUGIN)
		result = probe_delayed_exchange(topology, &mode, error);
	if (result == RESULT_OK)
		result = declare_way(topology, broker, mode, error);
	if (result != RESULT_OK)
		return result;
	set_mode(topology, mode, broker);
	mark_declared(topology, broker, TOPOLOGY_PART_WAY);
	return RESULT_OK;
}
