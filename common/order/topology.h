/*
 * topology - every exchange, queue and binding; plugin or levels; the way of a timeout.
 *
 * Only this module declares, the same for every program, from the inside out: the parked queue, the
 * due queue, then what leads there.
 */
#ifndef COMMON_ORDER_TOPOLOGY_H
#define COMMON_ORDER_TOPOLOGY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/result.h"
#include "common/base/settings.h"

struct broker;
struct broker_message;
struct broker_settings;
struct topology;

enum topology_mode {
	TOPOLOGY_MODE_AUTO, /* plugin where the broker offers the exchange type, else levels */
	TOPOLOGY_MODE_PLUGIN,
	TOPOLOGY_MODE_LEVELS,
	TOPOLOGY_MODE_NONE, /* no timeouts are published: sweep only */
};

/* "auto", "plugin", "levels", "none", ended by NULL. */
extern const char *const topology_mode_names[];

/* The longest delay a mode can hold: 2^31 - 1 ms; all 24 levels together. */
#define TOPOLOGY_PLUGIN_MAX_MS UINT64_C(2147483647)
#define TOPOLOGY_LEVELS_MAX_MS (((UINT64_C(1) << TOPOLOGY_LEVELS) - 1) * TOPOLOGY_UNIT_MS)

enum {
	TOPOLOGY_FIXED_MAX = 16,
	TOPOLOGY_LEVELS = 24,
	TOPOLOGY_UNIT_MS = 100,
	TOPOLOGY_PLUGIN_STEP_MS = 50,   /* delays of the plugin are rounded down to it */
	TOPOLOGY_FIXED_LEAD_MS = 200,   /* a fixed queue waits so much less than its timeout */
	TOPOLOGY_FIXED_WINDOW_MS = 300, /* and takes what has up to so much more to go */
};

struct topology_fixed {
	uint64_t timeouts_ms[TOPOLOGY_FIXED_MAX];
	size_t count;
};

struct topology_settings {
	int delay; /* enum topology_mode */
	struct topology_fixed fixed;
	uint64_t horizon_ms;
};

/* LAPSE_DELAY, LAPSE_DELAY_FIXED ("15m,30m,1h", "off" for none), LAPSE_DELAY_HORIZON. */
extern const struct setting topology_settings_table[];
/* A horizon above what the mode can hold is a mistake. */
void topology_check_settings(
	const struct topology_settings *settings, struct settings_report *report);

/* Allocates only.  Borrows both settings, which must live longer. */
void topology_create(const struct topology_settings *settings,
	const struct broker_settings *broker_settings, struct topology **topology_out);
void topology_destroy(struct topology **topology);

/*
 * Declares everything over a connected broker, once per connection (does nothing when it has been
 * done on this epoch).  In mode auto it first asks, on a connection of its own, whether the broker
 * offers the delayed exchange.  PERMANENT names what has other properties than ours; nothing of
 * an operator's is ever deleted.
 */
MUST_USE enum result topology_declare(
	struct topology *topology, struct broker *broker, struct error *error);
/* Only what a reader needs: parked queue and due queue, events exchange. */
MUST_USE enum result topology_declare_due(
	struct topology *topology, struct broker *broker, struct error *error);
/*
 * Only what a reader of events needs: parked queue, events exchange, and the queue of webhooks
 * bound to it for every routing key.  One consumer at a time gets its messages, the others stand
 * by, so that events keep their order.
 */
MUST_USE enum result topology_declare_events(
	struct topology *topology, struct broker *broker, struct error *error);

/* The mode in use: never AUTO once topology_declare was OK; AUTO before that. */
enum topology_mode topology_mode(const struct topology *topology);
/* The longest delay the mode in use can hold. */
uint64_t topology_delay_max_ms(const struct topology *topology);
/* The same of any mode; of AUTO the smaller one, of NONE there is no limit. */
uint64_t topology_mode_max_ms(enum topology_mode mode);

/*
 * Fills exchange, routing key, mandatory and delay of message so that it reaches the due queue
 * after remaining_ms (0 or less: at once; more than the mode can hold: at the most).  The texts
 * live in the topology until the next call.  In the modes AUTO and NONE nothing can wait: it goes
 * to the due queue at once, so ask for the mode first.
 */
void topology_route(
	struct topology *topology, int64_t remaining_ms, struct broker_message *message);

/* Names with the prefix, borrowed. */
const char *topology_due_queue(const struct topology *topology);
const char *topology_parked_queue(const struct topology *topology);
const char *topology_events_exchange(const struct topology *topology);
const char *topology_webhooks_queue(const struct topology *topology);

/* Fills exchange, routing key, mandatory, reason and origin (a queue) of a message to be parked. */
void topology_route_parked(const struct topology *topology, const char *origin, const char *reason,
	struct broker_message *message);

/* The routing key of a delay of units (1 to 2^24 - 1) in key (48 bytes): its bits, lowest first,
 * one word each; returns the level, the number of the highest bit. */
int topology_delay_key(uint32_t units, char *key);

#endif
