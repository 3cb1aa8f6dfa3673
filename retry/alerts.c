#include "retry/alerts.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/base/ulid.h"
#include "common/io/db.h"
#include "common/order/alert_delivery.h"
#include "common/report/alert_message.h"
#include "retry/alert_parcel.h"
#include "retry/alert_sender.h"
#include "retry/retry.h"
#include "retry/retry_metrics.h"

enum {
	LEASE_MS = 300000,      /* whoever gets the lock next does not wait for it */
	LOOK_MS = 1000,         /* between two looks at the table */
	LOCK_TRY_MS = 5000,     /* while another process holds the lock */
	CURE_MS = 60000,        /* between two comparisons with the tables */
	SETTLE_STATEMENTS = 20, /* in one turn */
	TURN_MS = 20,           /* between two turns of ours: the tasks have many more */
};

struct alerts {
	const struct retry_settings *settings;
	struct alert_sender *sender;
	char lease_token[ULID_SIZE];
	bool has_new_settings;
	uint64_t lock_epoch; /* of the connection that holds the lock, 0: none */
	uint64_t lock_try_ms;
	uint64_t cure_ms;
	uint64_t look_ms;
	uint64_t turn_ms;
	struct alert_parcel_list parcels;
	struct alert_firing_list firing;
};

void alerts_create(
	const struct retry_settings *settings, struct http *http, struct alerts **alerts_out)
{
	struct alerts *alerts = memory_allocate(sizeof(*alerts));

	alerts->settings = settings;
	ulid_generate(alerts->lease_token);
	alert_sender_create(settings, http, &alerts->parcels, &alerts->sender);
	*alerts_out = alerts;
}

static void forget_parcel(struct alerts *alerts, size_t place)
{
	struct alert_parcel_list *list = &alerts->parcels;

	alert_parcel_destroy(&list->items[place]);
	list->count--;
	/* The order stays: the oldest is told first. */
	for (size_t i = place; i < list->count; i++)
		list->items[i] = list->items[i + 1];
}

/* All but those that are being sent. */
static void forget_waiting(struct alerts *alerts)
{
	for (size_t i = alerts->parcels.count; i > 0; i--)
		if (!alert_parcel_has(alerts->parcels.items[i - 1], ALERT_LEG_SENDING))
			forget_parcel(alerts, i - 1);
}

void alerts_destroy(struct alerts **alerts)
{
	if (*alerts == NULL)
		return;
	while ((*alerts)->parcels.count > 0)
		forget_parcel(*alerts, (*alerts)->parcels.count - 1);
	alert_sender_destroy(&(*alerts)->sender);
	free(*alerts);
	*alerts = NULL;
}

void alerts_reload(struct alerts *alerts)
{
	alerts->has_new_settings = true;
}

/* What will be written about a parcel that is over. */
struct ending {
	char *targets;
	enum alert_delivery_state state;
	uint64_t delay_ms;
	const char *reason;
};

static void find_ending(const struct alerts *alerts, const struct alert_parcel *parcel,
	uint64_t now_ms, struct ending *ending)
{
	ending->targets = alert_parcel_write_targets(parcel, alert_sender_targets(alerts->sender));
	ending->state = alert_parcel_find_state(parcel, now_ms, &ending->delay_ms);
	ending->reason = parcel->reason;
	if (ending->state != ALERT_DELIVERY_PENDING)
		ending->delay_ms = alerts->settings->alert_repeat_ms;
}

static bool is_like(const struct ending *one, const struct ending *other)
{
	return one->state == other->state && one->delay_ms == other->delay_ms &&
	       text_equals(one->targets, other->targets) && text_equals(one->reason, other->reason);
}

/* One statement for the first parcel and all that ended like it. */
static enum result write_ending(struct alerts *alerts, struct db *db, const struct ending *endings,
	size_t first, bool *is_written, struct error *error)
{
	const struct alert_parcel_list *list = &alerts->parcels;
	const struct ending *ending = &endings[first];
	uint64_t *ids = memory_allocate_array(list->count, sizeof(*ids));
	struct alert_outcome outcome = { .lease_token = alerts->lease_token,
		.ids = ids,
		.state = ending->state,
		.targets = ending->targets,
		.reason = ending->reason[0] == '\0' ? NULL : ending->reason,
		.delay_ms = ending->delay_ms };

	for (size_t i = first; i < list->count; i++) {
		if (endings[i].targets == NULL || is_written[i] || !is_like(ending, &endings[i]))
			continue;
		is_written[i] = true;
		ids[outcome.count++] = list->items[i]->row.id;
	}
	enum result result = alert_settle(db, &outcome, error);
	if (result != RESULT_OK)
		memset(is_written, 0, list->count * sizeof(*is_written));
	free(ids);
	return result;
}

static enum result write_endings(struct alerts *alerts, struct db *db, struct ending *endings,
	bool *is_written, struct error *error)
{
	uint64_t now_ms = alert_sender_now_ms(alerts->sender);
	enum result result = RESULT_OK;
	size_t statements = 0;

	for (size_t i = 0; i < alerts->parcels.count; i++)
		if (alert_parcel_is_over(alerts->parcels.items[i]))
			find_ending(alerts, alerts->parcels.items[i], now_ms, &endings[i]);
	for (size_t i = 0; i < alerts->parcels.count && statements < SETTLE_STATEMENTS; i++) {
		if (endings[i].targets == NULL || is_written[i])
			continue;
		result = write_ending(alerts, db, endings, i, is_written, error);
		statements++;
		if (result != RESULT_OK)
			break;
	}
	return result;
}

/* Writes what has become of the parcels that are over.  One that was resolved, or is leased to
 * another process by now, is left as it is: somebody claims it again. */
static enum result settle(struct alerts *alerts, struct db *db, struct error *error)
{
	size_t count = alerts->parcels.count;

	if (count == 0)
		return RESULT_OK;
	struct ending *endings = memory_allocate_array(count, sizeof(*endings));
	bool *is_written = memory_allocate_array(count, sizeof(*is_written));
	enum result result = write_endings(alerts, db, endings, is_written, error);
	for (size_t i = count; i > 0; i--) {
		free(endings[i - 1].targets);
		if (is_written[i - 1])
			forget_parcel(alerts, i - 1);
	}
	free(is_written);
	free(endings);
	return result;
}

/* OK: this process is the one that delivers. */
static enum result take_lock(struct alerts *alerts, struct db *db, struct error *error)
{
	uint64_t now_ms = clock_now_ms();

	if (alerts->lock_epoch == db_epoch(db))
		return RESULT_OK;
	alerts->lock_epoch = 0;
	if (now_ms < alerts->lock_try_ms)
		return RESULT_NONE;
	alerts->lock_try_ms = now_ms + LOCK_TRY_MS;
	enum result result = alert_lock(db, error);
	if (result == RESULT_NONE)
		forget_waiting(alerts); /* another process tells them */
	if (result == RESULT_OK)
		result = alert_end_leases(db, alerts->lease_token, error);
	if (result != RESULT_OK)
		return result;
	alerts->lock_epoch = db_epoch(db);
	log_info(log_event("alerts_taken_over"));
	return RESULT_OK;
}

static struct alert_claim make_claim(const struct alerts *alerts, size_t limit)
{
	return (struct alert_claim){ .lease_token = alerts->lease_token,
		.lease_ms = LEASE_MS,
		.group_wait_ms = alerts->settings->alert_group_wait_ms,
		.limit = (uint32_t)(limit < ALERT_CLAIM_MAX ? limit : ALERT_CLAIM_MAX) };
}

/* What is on its way stays leased, however long its target takes. */
static enum result keep(const struct alerts *alerts, struct db *db, struct error *error)
{
	const struct alert_parcel_list *list = &alerts->parcels;
	const struct alert_claim claim = make_claim(alerts, 1);
	uint64_t *ids = memory_allocate_array(list->count, sizeof(*ids));

	for (size_t i = 0; i < list->count; i++)
		ids[i] = list->items[i]->row.id;
	enum result result = alert_keep(db, &claim, ids, list->count, error);
	free(ids);
	return result;
}

/* Once a minute: what is well again is resolved. */
static enum result cure(struct alerts *alerts, struct db *db, struct error *error)
{
	uint64_t now_ms = clock_now_ms();
	uint64_t count = 0;

	if (now_ms < alerts->cure_ms)
		return RESULT_OK;
	enum result result = alert_resolve_cured(db, &count, error);
	if (result == RESULT_OK)
		result = keep(alerts, db, error);
	if (result == RESULT_OK)
		alerts->cure_ms = now_ms + CURE_MS;
	if (count > 0)
		log_info(log_event("alerts_cured"), log_uint("count", count));
	return result;
}

static void take_batch(struct alerts *alerts, const struct alert_batch *batch)
{
	uint64_t repeats = 0;

	alert_sender_set_time(alerts->sender, batch->now_ms);
	for (size_t i = 0; i < batch->count; i++) {
		repeats += batch->rows[i].repeat_count;
		alert_parcel_create(&batch->rows[i], alert_sender_targets(alerts->sender),
			batch->now_ms, &alerts->parcels.items[alerts->parcels.count++]);
	}
	retry_metrics_count_suppressed(RETRY_SUPPRESSED_SILENCE, batch->silenced_count);
	retry_metrics_count_suppressed(RETRY_SUPPRESSED_REPEAT, repeats);
}

static enum result look(struct alerts *alerts, struct db *db, struct error *error)
{
	uint64_t now_ms = clock_now_ms();
	size_t room = ALERT_PARCEL_MAX - alerts->parcels.count;
	const struct alert_claim claim = make_claim(alerts, room);
	struct alert_batch *batch = NULL;

	if (now_ms < alerts->look_ms || room == 0)
		return RESULT_NONE;
	alerts->look_ms = now_ms + LOOK_MS;
	enum result result = alert_claim(db, &claim, &batch, error);
	if (result == RESULT_OK)
		take_batch(alerts, batch);
	alert_batch_destroy(&batch);
	return result;
}

static enum result tell(struct alerts *alerts, struct db *db, struct error *error)
{
	const struct alert_target_list *targets = alert_sender_targets(alerts->sender);

	for (size_t i = 0; i < targets->count; i++) {
		const struct alert_firing_list *firing = NULL;

		if (!alert_sender_is_ready(alerts->sender, i))
			continue;
		if (alert_sender_wants_firing(alerts->sender, i)) {
			enum result result = alert_list_firing(db, targets->items[i].min_severity,
				ALERT_RENEWAL_AHEAD_S, &alerts->firing, error);

			if (result != RESULT_OK)
				return result;
			firing = &alerts->firing;
		}
		alert_sender_start(alerts->sender, i, firing);
	}
	return RESULT_OK;
}

/* Anything but a lost connection stays here: alerts are never in the way of the tasks. */
static enum result contain(
	struct alerts *alerts, const struct db *db, enum result result, const struct error *error)
{
	if (result == RESULT_TEMPORARY && !db_is_connected(db))
		return result;
	if (result == RESULT_PERMANENT || result == RESULT_TEMPORARY) {
		log_error(log_event("alerts_failed"), log_text("error", error->text));
		alerts->look_ms = clock_now_ms() + CURE_MS;
		alerts->cure_ms = alerts->look_ms;
		alerts->turn_ms = clock_now_ms() + LOOK_MS;
	}
	return RESULT_OK;
}

/* Nothing new is begun; what waits goes back to the table. */
static void give_back(struct alerts *alerts)
{
	uint64_t now_ms = alert_sender_now_ms(alerts->sender);

	for (size_t i = 0; i < alerts->parcels.count; i++)
		alert_parcel_give_back(alerts->parcels.items[i], now_ms);
}

static void take_settings(struct alerts *alerts)
{
	if (alert_sender_is_busy(alerts->sender) || alerts->parcels.count > 0)
		return;
	alert_sender_take_settings(alerts->sender);
	alerts->has_new_settings = false;
}

static enum result run(struct alerts *alerts, struct db *db, struct error *error)
{
	if (alerts->has_new_settings)
		give_back(alerts);
	enum result result = settle(alerts, db, error);
	if (alerts->has_new_settings)
		take_settings(alerts);
	if (result != RESULT_OK || alerts->has_new_settings ||
		alert_sender_targets(alerts->sender)->count == 0)
		return result;
	result = take_lock(alerts, db, error);
	if (result == RESULT_OK)
		result = cure(alerts, db, error);
	if (result == RESULT_OK)
		result = look(alerts, db, error);
	/* NONE: nothing new, or it is not for us to tell. */
	if (result == RESULT_OK || (result == RESULT_NONE && alerts->lock_epoch == db_epoch(db)))
		result = tell(alerts, db, error);
	return error_context(result, error, "alerts");
}

enum result alerts_step(struct alerts *alerts, struct db *db, struct error *error)
{
	uint64_t now_ms = clock_now_ms();

	if (now_ms < alerts->turn_ms)
		return RESULT_OK;
	alerts->turn_ms = now_ms + TURN_MS;
	return contain(alerts, db, run(alerts, db, error), error);
}

enum result alerts_drain(struct alerts *alerts, struct db *db, struct error *error)
{
	give_back(alerts);
	enum result result = settle(alerts, db, error);

	return result == RESULT_OK && alerts->parcels.count == 0 ? RESULT_NONE : result;
}

/* Is there something to do that waits for no answer and no time? */
static bool has_work(const struct alerts *alerts)
{
	if (alerts->has_new_settings && !alert_sender_is_busy(alerts->sender))
		return true;
	for (size_t i = 0; i < alerts->parcels.count; i++)
		if (alert_parcel_is_over(alerts->parcels.items[i]))
			return true;
	return false;
}

uint64_t alerts_wait_ms(const struct alerts *alerts, uint64_t limit_ms)
{
	uint64_t now_ms = clock_now_ms();
	uint64_t turn_ms = alerts->turn_ms > now_ms ? alerts->turn_ms - now_ms : 0;
	uint64_t wait_ms = LOOK_MS;

	if (has_work(alerts))
		wait_ms = 0;
	else if (alerts->lock_epoch != 0) /* else it is not for us to tell */
		wait_ms = alert_sender_wait_ms(alerts->sender, LOOK_MS);
	wait_ms = wait_ms > turn_ms ? wait_ms : turn_ms;
	return wait_ms < limit_ms ? wait_ms : limit_ms;
}

void alerts_dump(const struct alerts *alerts)
{
	log_info(log_event("dump_alerts"),
		log_uint("targets", alert_sender_targets(alerts->sender)->count),
		log_text("delivers", alerts->lock_epoch == 0 ? "no" : "yes"),
		log_uint("alerts", alerts->parcels.count),
		log_text("sending", alert_sender_is_busy(alerts->sender) ? "yes" : "no"));
}
