#include "console/tile.h"

#include <inttypes.h>

#include "common/base/text.h"
#include "console/phrase.h"
#include "console/thresholds.h"

enum {
	OUTBOX_STUCK_MS = THRESHOLDS_OUTBOX_S * 1000,
	TASK_OLD_MS = THRESHOLDS_TASKS_S * 1000,
	REFUND_OLD_MS = THRESHOLDS_REFUND_S * 1000,
	UNDELIVERED_OLD_MS = THRESHOLDS_UNDELIVERED_S * 1000,
	LAG_HIGH_MS = THRESHOLDS_LAG_S * 1000,
};

/* A new tile; unknown, with its reason, when its part is. */
static struct tile *add(struct tiles *tiles, const struct snapshot_figures *figures,
	enum snapshot_part part, const char *group, const char *title)
{
	REQUIRE(tiles->count < TILE_MAX);
	struct tile *tile = &tiles->list[tiles->count++];

	*tile = (struct tile){ .group = group, .title = title };
	if (figures->number > 0 && figures->parts[part].is_known)
		return tile;
	tile->level = TILE_LEVEL_UNKNOWN;
	(void)text_copy(tile->note, sizeof(tile->note), figures->parts[part].why);
	return tile;
}

/* "1,000,000+" for what was not counted to the end. */
static void set_count(struct tile *tile, uint64_t count)
{
	if (tile->level == TILE_LEVEL_UNKNOWN)
		return;
	(void)text_format(tile->value, sizeof(tile->value),
		count >= SNAPSHOT_COUNT_MAX ? "%" PRIu64 "+" : "%" PRIu64, count);
}

static void set_level(struct tile *tile, bool is_bad, bool is_warn)
{
	if (tile->level == TILE_LEVEL_UNKNOWN)
		return;
	tile->level = is_bad ? TILE_LEVEL_BAD : is_warn ? TILE_LEVEL_WARN : TILE_LEVEL_GOOD;
}

static void set_duration(struct tile *tile, int64_t milliseconds)
{
	if (tile->level == TILE_LEVEL_UNKNOWN)
		return;
	if (milliseconds < 0)
		(void)text_copy(tile->value, sizeof(tile->value), "–");
	else
		instant_format_duration((uint64_t)milliseconds, tile->value);
}

/* A pile: how many, and how old the oldest one is. */
static struct tile *add_pile(struct tiles *tiles, const struct snapshot_figures *figures,
	enum snapshot_part part, const char *title, const struct snapshot_pile *pile)
{
	struct tile *tile = add(tiles, figures, part, NULL, title);
	char age[INSTANT_DURATION_SIZE];

	set_count(tile, pile->count);
	if (tile->level == TILE_LEVEL_UNKNOWN || pile->count == 0)
		return tile;
	instant_format_duration(pile->oldest_ms, age);
	tile->note_form = PHRASE("oldest: {1}");
	(void)text_copy(tile->note, sizeof(tile->note), age);
	return tile;
}

static void add_lateness(struct tiles *tiles, const struct snapshot_figures *figures)
{
	static const char *const titles[] = { PHRASE("Lateness, 15 min"), PHRASE("Lateness, 1 h"),
		PHRASE("Lateness, 24 h") };

	for (size_t i = 0; i < ARRAY_LENGTH(titles); i++) {
		const struct snapshot_lateness *lateness = &figures->lateness[i];
		struct tile *tile =
			add(tiles, figures, SNAPSHOT_PART_LATENESS, PHRASE("Promises"), titles[i]);
		char p50[INSTANT_DURATION_SIZE];
		char p99[INSTANT_DURATION_SIZE];

		tile->path = "/orders?state=CLOSED";
		if (tile->level == TILE_LEVEL_UNKNOWN)
			continue;
		instant_format_duration(
			(uint64_t)(lateness->p50_ms < 0 ? 0 : lateness->p50_ms), p50);
		instant_format_duration(
			(uint64_t)(lateness->p99_ms < 0 ? 0 : lateness->p99_ms), p99);
		if (lateness->count == 0)
			(void)text_copy(tile->value, sizeof(tile->value), "–");
		else
			(void)text_format(
				tile->value, sizeof(tile->value), "P50 %s, P99 %s", p50, p99);
		(void)text_format(tile->note, sizeof(tile->note), "n = %" PRIu64 "%s",
			lateness->count, lateness->is_cut ? "+" : "");
		set_level(tile, false, lateness->count > 0 && lateness->p99_ms > LAG_HIGH_MS);
	}
}

static void add_orders(struct tiles *tiles, const struct snapshot_figures *figures,
	const struct tile_settings *settings)
{
	uint64_t broken = 0;
	struct tile *tile = add_pile(
		tiles, figures, SNAPSHOT_PART_OVERDUE, PHRASE("Overdue orders"), &figures->overdue);

	(void)text_format(tiles->overdue_path, sizeof(tiles->overdue_path),
		"/orders?overdue_by=%" PRIu64 "ms", settings->overdue_grace_ms);
	tile->path = tiles->overdue_path;
	set_level(tile, figures->overdue.oldest_ms > 2 * settings->sweep_interval_ms,
		figures->overdue.count > 0);
	for (size_t i = 0; i < INVARIANT_COUNT; i++)
		broken += figures->violations[i];
	tile = add(tiles, figures, SNAPSHOT_PART_INVARIANTS, NULL, PHRASE("Broken promises"));
	set_count(tile, broken);
	set_level(tile, broken > 0, false);
	tile = add(tiles, figures, SNAPSHOT_PART_WAITING, PHRASE("Orders"),
		PHRASE("Waiting for their deadline"));
	tile->path = "/orders?state=UNPAID";
	set_count(tile, figures->waiting);
}

static void add_latest(struct tiles *tiles, const struct snapshot_figures *figures)
{
	struct tile *tile = add(tiles, figures, SNAPSHOT_PART_LATEST, NULL, PHRASE("Last close"));

	set_duration(tile, figures->last_close_age_ms);
	tile = add(tiles, figures, SNAPSHOT_PART_LATEST, NULL, PHRASE("Last close by a sweep"));
	set_duration(tile, figures->last_sweep_close_age_ms);
	tile = add(tiles, figures, SNAPSHOT_PART_LATEST, NULL, PHRASE("Last publish"));
	set_duration(tile, figures->last_publish_age_ms);
}

static void add_outbox(struct tiles *tiles, const struct snapshot_figures *figures)
{
	struct tile *tile = add_pile(
		tiles, figures, SNAPSHOT_PART_OUTBOX, PHRASE("Outbox, due"), &figures->outbox_new);

	tile->path = "/outbox?state=NEW";
	set_level(tile, figures->outbox_new.oldest_ms > OUTBOX_STUCK_MS, false);
	tile = add_pile(tiles, figures, SNAPSHOT_PART_OUTBOX, PHRASE("Outbox, failed"),
		&figures->outbox_failed);
	tile->path = "/outbox?state=FAILED";
	set_level(tile, false, figures->outbox_failed.count > 0);
}

struct task_tile {
	const char *title;
	const char *path;
	enum compensation_kind kind;
	enum compensation_status status;
};

static const struct task_tile task_tiles[] = {
	{ PHRASE("Restores, pending"), "/tasks?kind=STOCK_RESTORE&state=PENDING",
		COMPENSATION_KIND_STOCK_RESTORE, COMPENSATION_STATUS_PENDING },
	{ PHRASE("Restores, dead"), "/tasks?kind=STOCK_RESTORE&state=DEAD",
		COMPENSATION_KIND_STOCK_RESTORE, COMPENSATION_STATUS_DEAD },
	{ PHRASE("Refunds, pending"), "/tasks?kind=REFUND&state=PENDING", COMPENSATION_KIND_REFUND,
		COMPENSATION_STATUS_PENDING },
	{ PHRASE("Refunds, dead"), "/tasks?kind=REFUND&state=DEAD", COMPENSATION_KIND_REFUND,
		COMPENSATION_STATUS_DEAD },
	{ PHRASE("Webhooks, pending"), "/tasks?kind=WEBHOOK&state=PENDING",
		COMPENSATION_KIND_WEBHOOK, COMPENSATION_STATUS_PENDING },
	{ PHRASE("Webhooks, dead"), "/tasks?kind=WEBHOOK&state=DEAD", COMPENSATION_KIND_WEBHOOK,
		COMPENSATION_STATUS_DEAD },
};

static void add_tasks(struct tiles *tiles, const struct snapshot_figures *figures)
{
	for (size_t i = 0; i < ARRAY_LENGTH(task_tiles); i++) {
		const struct task_tile *shown = &task_tiles[i];
		const struct snapshot_pile *pile = &figures->tasks[shown->kind][shown->status];
		struct tile *tile =
			add_pile(tiles, figures, SNAPSHOT_PART_TASKS, shown->title, pile);
		bool is_dead = shown->status == COMPENSATION_STATUS_DEAD;

		tile->path = shown->path;
		set_level(tile, is_dead && pile->count > 0, pile->oldest_ms > TASK_OLD_MS);
		if (i == 0)
			tile->group = PHRASE("Work owed to others");
	}
}

static void add_money(struct tiles *tiles, const struct snapshot_figures *figures)
{
	struct snapshot_pile refunds = { .count = 0 };

	for (size_t i = 0; i < SNAPSHOT_OUTCOMES; i++) {
		refunds.count += figures->refunds[i].count;
		if (figures->refunds[i].oldest_ms > refunds.oldest_ms)
			refunds.oldest_ms = figures->refunds[i].oldest_ms;
	}
	struct tile *tile =
		add_pile(tiles, figures, SNAPSHOT_PART_REFUNDS, PHRASE("Refunds open"), &refunds);
	tile->path = "/payments?refund_state=PENDING";
	set_level(tile, refunds.oldest_ms > REFUND_OLD_MS, refunds.count > 0);
}

static void add_alerts(struct tiles *tiles, const struct snapshot_figures *figures)
{
	struct tile *tile = add(tiles, figures, SNAPSHOT_PART_ALERTS, PHRASE("Alerts and queues"),
		PHRASE("Alerts firing"));

	tile->path = "/alerts";
	set_count(tile, figures->alerts_firing);
	set_level(tile, figures->alerts_firing > figures->alerts_silenced,
		figures->alerts_firing > 0);
	tile = add_pile(tiles, figures, SNAPSHOT_PART_ALERTS, PHRASE("Alerts not delivered"),
		&figures->alerts_undelivered);
	tile->path = "/alerts";
	set_level(tile, figures->alerts_undelivered.oldest_ms > UNDELIVERED_OLD_MS,
		figures->alerts_undelivered.count > 0);
}

static void add_queue(struct tiles *tiles, const struct snapshot_figures *figures,
	const char *title, size_t place, bool needs_consumer)
{
	const struct snapshot_queue *queue = &figures->queues[place];
	struct tile *tile = add(tiles, figures, SNAPSHOT_PART_QUEUES, NULL, title);

	tile->path = needs_consumer ? "/queues" : "/parked";
	if (tile->level != TILE_LEVEL_UNKNOWN && !queue->is_there) {
		tile->level = TILE_LEVEL_UNKNOWN;
		return;
	}
	set_count(tile, queue->ready);
	if (tile->level == TILE_LEVEL_UNKNOWN)
		return;
	if (needs_consumer) {
		tile->note_form = PHRASE("consumers: {1}");
		(void)text_format(tile->note, sizeof(tile->note), "%u", queue->consumers);
	}
	set_level(
		tile, needs_consumer && queue->consumers == 0, !needs_consumer && queue->ready > 0);
}

static void add_mode(struct tiles *tiles, const struct snapshot_figures *figures)
{
	struct tile *tile = add(tiles, figures, SNAPSHOT_PART_QUEUES, NULL, PHRASE("Delay mode"));

	tile->path = "/queues";
	if (tile->level == TILE_LEVEL_UNKNOWN)
		return;
	if (figures->mode == TOPOLOGY_MODE_AUTO)
		tile->level = TILE_LEVEL_UNKNOWN;
	else
		(void)text_copy(
			tile->value, sizeof(tile->value), topology_mode_names[figures->mode]);
}

void tile_format_note(
	const struct tile *tile, enum language language, char note_out[TILE_NOTE_SIZE])
{
	const char *form = tile->note_form == NULL ? "{1}" : phrase_in(language, tile->note_form);

	phrase_fill(note_out, TILE_NOTE_SIZE, form, tile->note, NULL);
}

void tiles_fill(const struct snapshot_figures *figures, const struct tile_settings *settings,
	struct tiles *tiles)
{
	tiles->count = 0;
	add_lateness(tiles, figures);
	add_orders(tiles, figures, settings);
	add_latest(tiles, figures);
	add_outbox(tiles, figures);
	add_tasks(tiles, figures);
	add_money(tiles, figures);
	add_alerts(tiles, figures);
	add_queue(tiles, figures, PHRASE("Due messages ready"), TOPOLOGY_ROLE_DUE, true);
	add_queue(tiles, figures, PHRASE("Parked messages"), TOPOLOGY_ROLE_PARKED, false);
	add_mode(tiles, figures);
}
