#include "common/order/inbox.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/failpoint.h"
#include "common/base/memory.h"
#include "common/base/random.h"
#include "common/io/db.h"
#include "common/io/db_insert.h"
#include "common/io/db_list.h"
#include "common/order/compensation.h"
#include "common/order/subscriber.h"

enum {
	RACE_MAX = 3, /* tries of a list that loses races */
	PAUSE_MAX_MS = 20,
	RANGE_MAX = 16, /* halves of INBOX_BATCH_MAX that wait, and more */
	CONSUMED_COLUMNS = 2,
	TASK_COLUMNS = 5,
	ERROR_DUPLICATE = 1062,
};

static const char key_prefix[] = "webhook:";

static_assert(sizeof(key_prefix) + SUBSCRIBER_NAME_SIZE + EVENT_MESSAGE_ID_SIZE <
		      TEXT_IDEMPOTENCY_KEY_SIZE,
	"any key fits");

/* An event as one subscriber sees it. */
struct candidate {
	const struct inbox_event *event;
	bool is_known;
	bool has_task;
};

/* What a transaction found out about an event, for all subscribers together. */
struct finding {
	bool is_wanted;
	bool is_new;
};

/* One transaction. */
struct recording {
	struct db *db;
	const struct subscriber_list *subscribers;
	struct inbox_event *events;
	size_t count;
	struct finding *findings; /* in the places of events */
	/* A task may be there although the inbox knows nothing (any more): look first. */
	bool looks_for_tasks;
	/* Of the subscriber whose turn it is; each event once: */
	const char *name;
	struct candidate *candidates;
	size_t candidate_count;
	char (*keys)[TEXT_IDEMPOTENCY_KEY_SIZE];
	struct db_param *params;
};

/* ---- candidates */

static int compare_by_id(const void *left, const void *right)
{
	const struct candidate *one = left;
	const struct candidate *other = right;
	int order = strcmp(one->event->message.event_id, other->event->message.event_id);

	/* Of two deliveries of one event the first counts. */
	return order != 0 ? order : (one->event > other->event) - (one->event < other->event);
}

static int compare_by_place(const void *left, const void *right)
{
	const struct candidate *one = left;
	const struct candidate *other = right;

	return (one->event > other->event) - (one->event < other->event);
}

static int compare_to_id(const void *key, const void *element)
{
	const struct candidate *candidate = element;

	return strcmp(key, candidate->event->message.event_id);
}

/* Those that the subscriber wants, each once, by id: rows are always locked in this order. */
static void find_candidates(struct recording *recording, const struct subscriber *subscriber)
{
	struct candidate *candidates = recording->candidates;
	size_t wanted = 0;
	size_t kept = 0;

	recording->name = subscriber->name;
	for (size_t i = 0; i < recording->count; i++) {
		if (!subscriber_wants(subscriber, recording->events[i].message.type))
			continue;
		recording->findings[i].is_wanted = true;
		candidates[wanted++] = (struct candidate){ .event = &recording->events[i] };
	}
	qsort(candidates, wanted, sizeof(*candidates), compare_by_id);
	for (size_t i = 0; i < wanted; i++)
		if (kept == 0 || compare_to_id(candidates[i].event->message.event_id,
					 &candidates[kept - 1]) != 0)
			candidates[kept++] = candidates[i];
	recording->candidate_count = kept;
}

static struct candidate *find_candidate(struct recording *recording, const char *event_id)
{
	return bsearch(event_id, recording->candidates, recording->candidate_count,
		sizeof(*recording->candidates), compare_to_id);
}

static enum result find_known(struct recording *recording, struct error *error)
{
	struct db_param *params = recording->params;
	const struct db_list_query query = {
		.head = "SELECT event_id FROM t_event_consumed "
			"WHERE consumer_name = ? AND event_id IN ",
		.tail = "",
		.params = params,
		.before = 1,
		.count = recording->candidate_count,
	};
	struct db_rows *rows = NULL;

	params[0] = db_text(recording->name);
	for (size_t i = 0; i < query.count; i++)
		params[i + 1] = db_text(recording->candidates[i].event->message.event_id);
	enum result result = db_query_list(recording->db, &query, &rows, error);
	while (result == RESULT_OK && db_rows_next(rows)) {
		struct candidate *known = find_candidate(recording, db_rows_text(rows, 0, NULL));

		if (known != NULL)
			known->is_known = true;
	}
	db_rows_destroy(&rows);
	return result == RESULT_NONE ? RESULT_OK
				     : error_context(result, error, "find consumed events");
}

static void write_keys(struct recording *recording)
{
	for (size_t i = 0; i < recording->candidate_count; i++)
		(void)text_format(recording->keys[i], sizeof(recording->keys[i]), "%s%s:%s",
			key_prefix, recording->name,
			recording->candidates[i].event->message.event_id);
}

static enum result find_tasks(struct recording *recording, struct error *error)
{
	const struct db_list_query query = {
		.head = "SELECT idempotency_key FROM t_compensation WHERE idempotency_key IN ",
		.tail = "",
		.params = recording->params,
		.count = recording->candidate_count,
	};
	size_t skip = strlen(key_prefix) + strlen(recording->name) + 1;
	struct db_rows *rows = NULL;

	write_keys(recording);
	for (size_t i = 0; i < query.count; i++)
		recording->params[i] = db_text(recording->keys[i]);
	enum result result = db_query_list(recording->db, &query, &rows, error);
	while (result == RESULT_OK && db_rows_next(rows)) {
		struct candidate *found =
			find_candidate(recording, db_rows_text(rows, 0, NULL) + skip);

		if (found != NULL)
			found->has_task = true;
	}
	db_rows_destroy(&rows);
	return result == RESULT_NONE ? RESULT_OK : error_context(result, error, "find tasks");
}

/* ---- writing */

static enum result insert_rows(
	struct recording *recording, struct db_insertion *insertion, struct error *error)
{
	insertion->params = recording->params;
	enum result result = db_insert(recording->db, insertion, error);
	/* Somebody else recorded the same event a moment ago; or the inbox has forgotten it. */
	if (result == RESULT_PERMANENT && db_last_errno(recording->db) == ERROR_DUPLICATE)
		return RESULT_CONFLICT;
	return result;
}

static enum result insert_consumed(struct recording *recording, struct error *error)
{
	struct db_insertion rows = {
		.head = "INSERT INTO t_event_consumed(consumer_name, event_id) VALUES ",
		.row = "(?,?)",
		.columns = CONSUMED_COLUMNS,
	};
	struct db_param *param = recording->params;

	for (size_t i = 0; i < recording->candidate_count; i++) {
		const struct candidate *candidate = &recording->candidates[i];

		if (candidate->is_known)
			continue;
		*param++ = db_text(recording->name);
		*param++ = db_text(candidate->event->message.event_id);
		rows.count++;
	}
	return error_context(insert_rows(recording, &rows, error), error, "record events");
}

static enum result insert_tasks(struct recording *recording, struct error *error)
{
	struct db_insertion rows = {
		.head = "INSERT INTO t_compensation"
			"(kind, target, idempotency_key, order_no, payload) VALUES ",
		.row = "(?,?,?,?,?)",
		.columns = TASK_COLUMNS,
	};
	struct db_param *param = recording->params;

	/* In the order in which the events came, which becomes the order of the ids. */
	qsort(recording->candidates, recording->candidate_count, sizeof(struct candidate),
		compare_by_place);
	write_keys(recording);
	for (size_t i = 0; i < recording->candidate_count; i++) {
		const struct candidate *candidate = &recording->candidates[i];
		const struct inbox_event *event = candidate->event;

		if (candidate->is_known || candidate->has_task)
			continue;
		*param++ = db_text(compensation_kind_names[COMPENSATION_KIND_WEBHOOK]);
		*param++ = db_text(recording->name);
		*param++ = db_text(recording->keys[i]);
		*param++ = db_text(event->message.order_no);
		*param++ = db_bytes(event->document, event->document_size);
		recording->findings[event - recording->events].is_new = true;
		rows.count++;
	}
	return error_context(insert_rows(recording, &rows, error), error, "write webhook tasks");
}

static enum result record_for(
	struct recording *recording, const struct subscriber *subscriber, struct error *error)
{
	enum result result = RESULT_OK;

	find_candidates(recording, subscriber);
	if (recording->candidate_count == 0)
		return RESULT_OK;
	result = find_known(recording, error);
	if (result == RESULT_OK && recording->looks_for_tasks)
		result = find_tasks(recording, error);
	if (result == RESULT_OK)
		result = insert_consumed(recording, error);
	if (result == RESULT_OK)
		result = insert_tasks(recording, error);
	return result;
}

static enum result run_transaction(struct recording *recording, struct error *error)
{
	memset(recording->findings, 0, recording->count * sizeof(*recording->findings));
	enum result result = db_begin(recording->db, error);

	for (size_t i = 0; i < recording->subscribers->count && result == RESULT_OK; i++)
		result = record_for(recording, &recording->subscribers->items[i], error);
	FAILPOINT("before_commit");
	if (result == RESULT_OK)
		result = db_commit(recording->db, error);
	if (result == RESULT_OK)
		FAILPOINT("after_commit");
	db_rollback(recording->db); /* does nothing after a commit */
	return result;
}

static void note_findings(struct recording *recording)
{
	for (size_t i = 0; i < recording->count; i++) {
		const struct finding *finding = &recording->findings[i];

		recording->events[i].outcome = finding->is_new      ? INBOX_OUTCOME_NEW
					       : finding->is_wanted ? INBOX_OUTCOME_DUPLICATE
								    : INBOX_OUTCOME_UNWANTED;
	}
}

/* ---- races, and the bad event */

static enum result record_list(struct recording *recording, struct error *error)
{
	enum result result = RESULT_CONFLICT;

	for (int i = 0; i < RACE_MAX && result == RESULT_CONFLICT; i++) {
		if (i > 0)
			clock_wait_ms(random_up_to(PAUSE_MAX_MS));
		recording->looks_for_tasks = i > 0;
		result = run_transaction(recording, error);
	}
	if (result == RESULT_OK)
		note_findings(recording);
	return result;
}

static void give_up(struct inbox_event *event, enum result result, const struct error *error)
{
	event->outcome = result == RESULT_CONFLICT ? INBOX_OUTCOME_LOCKED : INBOX_OUTCOME_FAILED;
	(void)text_clip(event->error, sizeof(event->error), error->text, strlen(error->text));
}

struct range {
	size_t first;
	size_t count;
};

/* The first half comes next, so that events are recorded in their order. */
static void split(struct range *ranges, size_t *range_count)
{
	struct range *last = &ranges[*range_count - 1];
	size_t half = last->count / 2;

	REQUIRE(*range_count < RANGE_MAX);
	ranges[*range_count] = (struct range){ last->first, half };
	last->first += half;
	last->count -= half;
	*range_count += 1;
}

static enum result record_in_halves(
	struct recording *recording, struct inbox_event *events, size_t count, struct error *error)
{
	struct range ranges[RANGE_MAX] = { { 0, count } };
	size_t range_count = 1;

	while (range_count > 0) {
		const struct range range = ranges[range_count - 1];

		recording->events = events + range.first;
		recording->count = range.count;
		enum result result = record_list(recording, error);
		if (result == RESULT_TEMPORARY)
			return result;
		if (result != RESULT_OK && range.count > 1) {
			split(ranges, &range_count);
			continue;
		}
		if (result != RESULT_OK)
			give_up(recording->events, result, error);
		range_count--;
	}
	return RESULT_OK;
}

enum result inbox_record(struct db *db, const struct subscriber_list *subscribers,
	struct inbox_event *events, size_t count, struct error *error)
{
	struct recording recording = { .db = db, .subscribers = subscribers };

	REQUIRE(count <= INBOX_BATCH_MAX);
	if (count == 0)
		return RESULT_OK;
	recording.findings = memory_allocate_array(count, sizeof(*recording.findings));
	recording.candidates = memory_allocate_array(count, sizeof(*recording.candidates));
	recording.keys = memory_allocate_array(count, sizeof(*recording.keys));
	/* A padded list has fewer values than rows of tasks. */
	recording.params = memory_allocate_array(
		db_list_size(count) + 1 + count * TASK_COLUMNS, sizeof(*recording.params));
	enum result result = record_in_halves(&recording, events, count, error);
	free(recording.findings);
	free(recording.candidates);
	free(recording.keys);
	free(recording.params);
	return error_context(result, error, "inbox");
}
