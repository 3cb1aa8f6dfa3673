#include "events/recording.h"

#include <stdlib.h>

#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/order/inbox.h"
#include "common/service/metrics.h"
#include "events/batch.h"
#include "events/parking.h"

struct recording {
	struct batch *batch;
	struct parking *parking;
	struct inbox_event events[INBOX_BATCH_MAX];
	struct batch_entry *entries[INBOX_BATCH_MAX]; /* of the same places */
};

enum consumed_series {
	CONSUMED_NEW,
	CONSUMED_DUPLICATE,
	CONSUMED_PARKED,
	CONSUMED_ERROR,
};

static const char *const consumed_series[] = { "result=\"new\"", "result=\"duplicate\"",
	"result=\"parked\"", "result=\"error\"", NULL };

static const struct metric_family families[] = {
	{ .type = METRIC_TYPE_COUNTER,
		.name = "lapse_events_consumed_total",
		.help = "Events taken, by what was done with them.",
		.series = consumed_series },
	METRIC_END,
};

void recording_register_metrics(void)
{
	metrics_register(families);
}

static void count(enum consumed_series series)
{
	metrics_add(&families[0], series, 1);
}

void recording_count_malformed(void)
{
	count(CONSUMED_PARKED);
}

void recording_create(
	struct batch *batch, struct parking *parking, struct recording **recording_out)
{
	struct recording *recording = memory_allocate(sizeof(*recording));

	recording->batch = batch;
	recording->parking = parking;
	*recording_out = recording;
}

void recording_destroy(struct recording **recording)
{
	free(*recording);
	*recording = NULL;
}

/* All that are open; or the first of those that are handled alone, when no other is left. */
static size_t choose_open(struct recording *recording)
{
	struct batch_entry *suspect = NULL;
	size_t chosen = 0;

	for (size_t i = 0; i < recording->batch->count; i++) {
		struct batch_entry *entry = &recording->batch->entries[i];

		if (entry->state != BATCH_STATE_OPEN)
			continue;
		if (!entry->is_suspect)
			recording->entries[chosen++] = entry;
		else if (suspect == NULL)
			suspect = entry;
	}
	if (chosen == 0 && suspect != NULL)
		recording->entries[chosen++] = suspect;
	for (size_t i = 0; i < chosen; i++) {
		const struct batch_entry *entry = recording->entries[i];

		recording->events[i] = (struct inbox_event){ .message = entry->message,
			.document = entry->body,
			.document_size = entry->body_size };
	}
	return chosen;
}

static void note_outcome(
	struct recording *recording, struct batch_entry *entry, const struct inbox_event *event)
{
	switch (event->outcome) {
	case INBOX_OUTCOME_OPEN:
		return;
	case INBOX_OUTCOME_NEW:
	case INBOX_OUTCOME_UNWANTED:
		entry->state = BATCH_STATE_DONE;
		count(CONSUMED_NEW);
		return;
	case INBOX_OUTCOME_DUPLICATE:
		entry->state = BATCH_STATE_DONE;
		count(CONSUMED_DUPLICATE);
		return;
	case INBOX_OUTCOME_LOCKED:
		entry->state = BATCH_STATE_GIVE_BACK;
		count(CONSUMED_ERROR);
		log_warn(log_event("event_locked"), log_text("event_id", event->message.event_id),
			log_text("order_no", event->message.order_no),
			log_text("error", event->error));
		return;
	case INBOX_OUTCOME_FAILED:
		count(CONSUMED_PARKED);
		parking_park(
			recording->parking, entry, entry->body, entry->body_size, event->error);
		return;
	}
}

enum result recording_run(struct recording *recording, struct db *db,
	const struct subscriber_list *subscribers, struct error *error)
{
	enum result result = RESULT_OK;
	size_t chosen = 0;

	while (result == RESULT_OK && (chosen = choose_open(recording)) > 0) {
		result = inbox_record(db, subscribers, recording->events, chosen, error);
		for (size_t i = 0; i < chosen; i++)
			note_outcome(recording, recording->entries[i], &recording->events[i]);
	}
	return result;
}
