#include "console/lookout.h"

#include <stdlib.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/order/topology.h"
#include "common/service/ops.h"
#include "console/gauges.h"

struct lookout {
	struct snapshot *snapshot;
	struct thresholds *thresholds;
	struct thresholds_fleet fleet;
	bool was_leader;
	uint64_t failures; /* of writing alerts, for folding log lines */
};

static void register_gauges(const struct lookout_settings *settings)
{
	struct topology_queue queues[TOPOLOGY_QUEUE_MAX];
	struct topology *topology = NULL;

	topology_create(settings->snapshot.topology, settings->snapshot.amqp, &topology);
	gauges_register(queues, topology_list_queues(topology, queues));
	topology_destroy(&topology);
}

void lookout_create(const struct lookout_settings *settings, struct lookout **lookout_out)
{
	struct lookout *lookout = memory_allocate(sizeof(*lookout));

	snapshot_create(&settings->snapshot, &lookout->snapshot);
	thresholds_create(settings->thresholds, &lookout->thresholds);
	register_gauges(settings);
	*lookout_out = lookout;
}

void lookout_destroy(struct lookout **lookout)
{
	if (*lookout == NULL)
		return;
	snapshot_destroy(&(*lookout)->snapshot);
	thresholds_destroy(&(*lookout)->thresholds);
	free(*lookout);
	*lookout = NULL;
}

const struct snapshot *lookout_snapshot(const struct lookout *lookout)
{
	return lookout->snapshot;
}

void lookout_note_fleet(struct lookout *lookout, const struct thresholds_fleet *fleet)
{
	lookout->fleet = *fleet;
}

/* A failure is tried again with the next snapshot. */
static void evaluate(struct lookout *lookout)
{
	struct error error = { .text = "" };
	const struct thresholds_view view = {
		.figures = snapshot_figures(lookout->snapshot),
		.fleet = &lookout->fleet,
		.now_ms = clock_now_ms(),
		.is_active = thresholds_is_active(lookout->thresholds, ops_scrape_age_ms()),
	};
	enum result result = thresholds_evaluate(
		lookout->thresholds, snapshot_db(lookout->snapshot), &view, &error);

	if (result == RESULT_OK)
		lookout->failures = 0;
	else if (log_is_worth_repeating(&lookout->failures))
		log_warn(log_event("thresholds_failed"), log_text("error", error.text),
			log_uint("count", lookout->failures));
}

static void take_snapshot(struct lookout *lookout)
{
	bool is_leader = snapshot_is_leader(lookout->snapshot);

	gauges_update(snapshot_figures(lookout->snapshot), is_leader);
	if (is_leader)
		evaluate(lookout);
	else if (lookout->was_leader)
		thresholds_forget(lookout->thresholds);
	lookout->was_leader = is_leader;
}

uint64_t lookout_work(struct lookout *lookout)
{
	bool is_new = false;
	uint64_t wait_ms = snapshot_work(lookout->snapshot, &is_new);

	if (is_new)
		take_snapshot(lookout);
	return wait_ms;
}
