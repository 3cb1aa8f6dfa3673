#include "common/report/snapshot.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/base/random.h"
#include "common/base/text.h"
#include "common/io/db.h"
#include "common/report/snapshot_queues.h"
#include "common/report/snapshot_tables.h"

enum {
	INTERVAL_MS = 9000, /* between two begins, and up to SPREAD_MS more */
	SPREAD_MS = 2000,
	INVARIANTS_MS = 60000,
	STATEMENT_LIMIT_S = 3,
	COST_FACTOR = 20, /* a part waits so many times as long as it took */
	COST_MAX_MS = 60000,
	ANSWER_WAIT_MS = 20,
	PARTS_END = SNAPSHOT_PART_COUNT,
};

struct schedule {
	uint64_t next_ms;
	uint64_t repeats; /* of the trouble, for folding log lines */
};

struct snapshot {
	struct snapshot_settings settings;
	struct db *db;
	uint64_t db_epoch; /* for which the session has been set up; 0: none */
	struct snapshot_queues *queues;
	struct snapshot_figures latest;
	uint64_t latest_ms;
	struct snapshot_figures next; /* the one being taken */
	bool is_taking;
	int part; /* to be done next */
	uint64_t begin_ms;
	uint64_t next_begin_ms;
	struct schedule parts[SNAPSHOT_PART_COUNT];
	uint64_t lock_epoch; /* of the connection that holds the lock; 0: none */
	bool was_leader;
};

const char *const snapshot_part_names[SNAPSHOT_PART_COUNT] = {
	[SNAPSHOT_PART_CLOCK] = "clock",
	[SNAPSHOT_PART_WAITING] = "waiting",
	[SNAPSHOT_PART_OVERDUE] = "overdue",
	[SNAPSHOT_PART_LATENESS] = "lateness",
	[SNAPSHOT_PART_SOURCES] = "sources",
	[SNAPSHOT_PART_OUTBOX] = "outbox",
	[SNAPSHOT_PART_TASKS] = "tasks",
	[SNAPSHOT_PART_REFUNDS] = "refunds",
	[SNAPSHOT_PART_ALERTS] = "alerts",
	[SNAPSHOT_PART_LATEST] = "latest",
	[SNAPSHOT_PART_INVARIANTS] = "invariants",
	[SNAPSHOT_PART_QUEUES] = "queues",
	[SNAPSHOT_PART_UNACKED] = "unacked",
};

void snapshot_create(const struct snapshot_settings *settings, struct snapshot **snapshot_out)
{
	struct snapshot *snapshot = memory_allocate(sizeof(*snapshot));

	snapshot->settings = *settings;
	db_create(settings->mysql, &snapshot->db);
	db_set_companion(snapshot->db, settings->serve, settings->context);
	snapshot_queues_create(
		settings->amqp, settings->topology, settings->amqp_metrics_url, &snapshot->queues);
	for (size_t i = 0; i < SNAPSHOT_PART_COUNT; i++) {
		(void)text_copy(snapshot->latest.parts[i].why,
			sizeof(snapshot->latest.parts[i].why), "not yet");
		snapshot->latest.parts[i].unknown_since_ms = clock_now_ms();
	}
	*snapshot_out = snapshot;
}

void snapshot_destroy(struct snapshot **snapshot)
{
	if (*snapshot == NULL)
		return;
	snapshot_queues_destroy(&(*snapshot)->queues);
	db_destroy(&(*snapshot)->db);
	free(*snapshot);
	*snapshot = NULL;
}

const struct snapshot_figures *snapshot_figures(const struct snapshot *snapshot)
{
	return &snapshot->latest;
}

uint64_t snapshot_age_ms(const struct snapshot *snapshot)
{
	return snapshot->latest.number == 0 ? UINT64_MAX : clock_now_ms() - snapshot->latest_ms;
}

bool snapshot_is_leader(const struct snapshot *snapshot)
{
	return snapshot->lock_epoch != 0 && db_is_connected(snapshot->db) &&
	       db_epoch(snapshot->db) == snapshot->lock_epoch;
}

struct db *snapshot_db(struct snapshot *snapshot)
{
	return snapshot->db;
}

/* ---- the connection and its lock */

static enum result set_up_session(struct snapshot *snapshot, struct error *error)
{
	char sql[128];

	if (snapshot->db_epoch == db_epoch(snapshot->db))
		return RESULT_OK;
	if (db_is_mariadb(snapshot->db))
		(void)text_format(sql, sizeof(sql), "SET SESSION max_statement_time = %d",
			(int)STATEMENT_LIMIT_S);
	else
		(void)text_format(sql, sizeof(sql), "SET SESSION max_execution_time = %d",
			STATEMENT_LIMIT_S * 1000);
	enum result result = db_run(snapshot->db, sql, error);
	if (result == RESULT_OK)
		snapshot->db_epoch = db_epoch(snapshot->db);
	return result;
}

static void note_leader(struct snapshot *snapshot)
{
	bool is_leader = snapshot_is_leader(snapshot);

	if (is_leader != snapshot->was_leader)
		log_info(log_event(is_leader ? "snapshot_leads" : "snapshot_follows"));
	snapshot->was_leader = is_leader;
}

/* The server gives the lock back by itself when the connection ends. */
static enum result take_lock(struct snapshot *snapshot, struct error *error)
{
	if (snapshot_is_leader(snapshot))
		return RESULT_OK;
	enum result result = db_take_lock(snapshot->db, "lapse.snapshot", 0, error);
	snapshot->lock_epoch = result == RESULT_OK ? db_epoch(snapshot->db) : 0;
	return result == RESULT_NONE ? RESULT_OK : result;
}

/* The first part connects; without it the others say what it said. */
static enum result read_clock(struct snapshot *snapshot, struct error *error)
{
	enum result result = db_ensure_connected(snapshot->db, error);

	if (result == RESULT_OK)
		result = set_up_session(snapshot, error);
	if (result == RESULT_OK)
		result = take_lock(snapshot, error);
	if (result != RESULT_OK)
		return result;
	const struct snapshot_limits limits = { .overdue_grace_ms = 0 };
	return snapshot_tables_read(
		snapshot->db, SNAPSHOT_PART_CLOCK, &limits, &snapshot->next, error);
}

/* ---- parts */

static enum result read_table(
	struct snapshot *snapshot, enum snapshot_part part, struct error *error)
{
	const struct snapshot_limits limits = {
		.overdue_grace_ms = snapshot->settings.overdue_grace_ms,
		.sweep_interval_ms = snapshot->settings.sweep_interval_ms,
		.retention_ms = snapshot->settings.retention_ms,
		.lease_ms = snapshot->settings.lease_ms,
	};
	const struct snapshot_state *clock = &snapshot->next.parts[SNAPSHOT_PART_CLOCK];

	if (!db_is_connected(snapshot->db))
		return error_set(RESULT_TEMPORARY, error, "%s",
			clock->is_known ? "mysql: the connection was lost" : clock->why);
	return snapshot_tables_read(snapshot->db, part, &limits, &snapshot->next, error);
}

static enum result read_part(
	struct snapshot *snapshot, enum snapshot_part part, struct error *error)
{
	switch (part) {
	case SNAPSHOT_PART_CLOCK:
		return read_clock(snapshot, error);
	case SNAPSHOT_PART_QUEUES:
		return snapshot_queues_read(snapshot->queues, &snapshot->next, error);
	case SNAPSHOT_PART_UNACKED:
		return snapshot_queues_take_unacked(snapshot->queues, &snapshot->next, error);
	case SNAPSHOT_PART_WAITING:
	case SNAPSHOT_PART_OVERDUE:
	case SNAPSHOT_PART_LATENESS:
	case SNAPSHOT_PART_SOURCES:
	case SNAPSHOT_PART_OUTBOX:
	case SNAPSHOT_PART_TASKS:
	case SNAPSHOT_PART_REFUNDS:
	case SNAPSHOT_PART_ALERTS:
	case SNAPSHOT_PART_LATEST:
	case SNAPSHOT_PART_INVARIANTS:
		return read_table(snapshot, part, error);
	case SNAPSHOT_PART_COUNT:
		break;
	}
	return error_set(RESULT_PERMANENT, error, "no such part");
}

/* Unknown without an error: there is nobody to ask. */
static void note_failure(struct snapshot *snapshot, enum snapshot_part part, enum result result,
	const struct error *error)
{
	struct snapshot_state *state = &snapshot->next.parts[part];

	if (state->is_known)
		state->unknown_since_ms = clock_now_ms();
	state->is_known = false;
	(void)text_clip(state->why, sizeof(state->why), error->text, strlen(error->text));
	if (result == RESULT_NONE)
		return;
	state->errors++;
	/* The first part has said it. */
	if (part != SNAPSHOT_PART_CLOCK && part < SNAPSHOT_PART_QUEUES &&
		!db_is_connected(snapshot->db))
		return;
	if (log_is_worth_repeating(&snapshot->parts[part].repeats))
		log_warn(log_event("snapshot_part_failed"),
			log_text("part", snapshot_part_names[part]), log_text("error", error->text),
			log_uint("count", snapshot->parts[part].repeats));
}

static void do_part(struct snapshot *snapshot, enum snapshot_part part)
{
	struct snapshot_state *state = &snapshot->next.parts[part];
	struct error error = { .text = "" };
	uint64_t start_ms = clock_now_ms();
	enum result result = read_part(snapshot, part, &error);
	uint64_t end_ms = clock_now_ms();
	uint64_t wait_ms = (end_ms - start_ms) * COST_FACTOR;

	if (result == RESULT_OK) {
		state->is_known = true;
		state->why[0] = '\0';
		snapshot->parts[part].repeats = 0;
	} else {
		note_failure(snapshot, part, result, &error);
	}
	if (wait_ms > COST_MAX_MS)
		wait_ms = COST_MAX_MS;
	if (part == SNAPSHOT_PART_INVARIANTS && result == RESULT_OK)
		wait_ms = INVARIANTS_MS - INTERVAL_MS; /* with the snapshot that comes then */
	snapshot->parts[part].next_ms = end_ms + wait_ms;
}

/* ---- the whole */

static void begin(struct snapshot *snapshot, uint64_t now_ms)
{
	snapshot->next = snapshot->latest;
	snapshot->next.number++;
	snapshot->is_taking = true;
	snapshot->part = 0;
	snapshot->begin_ms = now_ms;
	snapshot->next_begin_ms = now_ms + INTERVAL_MS + random_up_to(SPREAD_MS);
	snapshot_queues_keep_alive(snapshot->queues);
	snapshot_queues_ask_unacked(snapshot->queues);
}

static void complete(struct snapshot *snapshot)
{
	uint64_t now_ms = clock_now_ms();

	snapshot->next.duration_ms = now_ms - snapshot->begin_ms;
	snapshot->next.taken_epoch_ms = (int64_t)clock_epoch_ms();
	snapshot->latest = snapshot->next;
	snapshot->latest_ms = now_ms;
	snapshot->is_taking = false;
	note_leader(snapshot);
}

static bool has_to_wait(struct snapshot *snapshot)
{
	return snapshot->part == SNAPSHOT_PART_UNACKED &&
	       !snapshot_queues_is_answered(snapshot->queues, 0);
}

/* The next part that is due; PARTS_END when there is none. */
static int find_due(const struct snapshot *snapshot, uint64_t now_ms)
{
	int part = snapshot->part;

	while (part < PARTS_END && now_ms < snapshot->parts[part].next_ms)
		part++;
	return part;
}

uint64_t snapshot_work(struct snapshot *snapshot, bool *is_new_out)
{
	uint64_t now_ms = clock_now_ms();

	*is_new_out = false;
	if (!snapshot->is_taking) {
		if (now_ms < snapshot->next_begin_ms)
			return snapshot->next_begin_ms - now_ms;
		begin(snapshot, now_ms);
	}
	snapshot->part = find_due(snapshot, now_ms);
	if (has_to_wait(snapshot))
		return ANSWER_WAIT_MS;
	if (snapshot->part < PARTS_END)
		do_part(snapshot, (enum snapshot_part)snapshot->part++);
	if (snapshot->part < PARTS_END)
		return 0;
	complete(snapshot);
	*is_new_out = true;
	return 0;
}
