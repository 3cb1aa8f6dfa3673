#include "bench/load/drain.h"

#include "bench/load/settings.h"
#include "common/base/clock.h"

enum {
	IDLE_MS = 1000
};

struct drain {
	struct broker *broker;
	const struct drain_request *request;
	uint64_t tag; /* of the last delivery */
	uint64_t open_count;
};

static enum result ack(struct drain *drain, struct drain_report *report, struct error *error)
{
	drain->open_count = 0;
	enum result result =
		broker_ack_up_to(drain->broker, broker_epoch(drain->broker), drain->tag, error);
	if (result == RESULT_OK)
		result = broker_flush(drain->broker, error);
	report->end_ms = clock_epoch_ms();
	return result;
}

static enum result take_all(struct drain *drain, struct drain_report *report, struct error *error)
{
	struct broker_event event;
	enum result result = RESULT_OK;

	while (result == RESULT_OK) {
		uint64_t wait_ms = drain->open_count > 0 ? 0 : IDLE_MS;

		result = broker_next(drain->broker, wait_ms, &event, error);
		if (result == RESULT_NONE && drain->open_count > 0) {
			result = ack(drain, report, error);
			continue;
		}
		if (result != RESULT_OK || event.kind != BROKER_EVENT_DELIVERY)
			continue;
		if (report->count++ == 0)
			report->start_ms = clock_epoch_ms();
		drain->tag = event.delivery.tag;
		if (++drain->open_count >= drain->request->ack_every)
			result = ack(drain, report, error);
	}
	return result == RESULT_NONE ? RESULT_OK : result;
}

enum result drain_queue(const struct load_settings *settings, const struct drain_request *request,
	struct drain_report *report, struct error *error)
{
	struct drain drain = { .request = request };
	struct topology *topology = NULL;

	broker_create(&settings->amqp, "bench-load drain", &drain.broker);
	topology_create(&settings->topology, &settings->amqp, &topology);
	enum result result = broker_ensure_connected(drain.broker, error);
	if (result == RESULT_OK)
		result = topology_declare_due(topology, drain.broker, error);
	if (result == RESULT_OK)
		result = broker_consume(
			drain.broker, topology_due_queue(topology), request->prefetch, error);
	if (result == RESULT_OK)
		result = take_all(&drain, report, error);
	broker_disconnect(drain.broker);
	topology_destroy(&topology);
	broker_destroy(&drain.broker);
	return result;
}
