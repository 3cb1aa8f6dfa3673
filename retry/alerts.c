#include "retry/alerts.h"

#include <stdlib.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/io/db.h"
#include "common/order/alert.h"
#include "retry/alert_group.h"
#include "retry/alert_sender.h"
#include "retry/retry.h"

enum {
	CLAIM_LIMIT = 300,
	LEASE_MS = 300000,  /* whoever gets the lock next does not wait for it */
	LOOK_MS = 1000,     /* between two looks at the table */
	LOCK_TRY_MS = 5000, /* while another process holds the lock */
	CURE_MS = 60000,    /* between two comparisons with the tables */
};

struct alerts {
	const struct retry_settings *settings;
	struct alert_sender *sender;
	bool has_new_settings;
	uint64_t lock_epoch; /* of the connection that holds the lock, 0: none */
	uint64_t lock_try_ms;
	uint64_t cure_ms;
	uint64_t look_ms;
	struct alert_batch *batch; /* NULL: nothing is under way */
	struct alert_group *groups;
	size_t group_count;
};

void alerts_create(
	const struct retry_settings *settings, struct http *http, struct alerts **alerts_out)
{
	struct alerts *alerts = memory_allocate(sizeof(*alerts));

	alerts->settings = settings;
	alert_sender_create(settings, http, &alerts->sender);
	*alerts_out = alerts;
}

static void forget_batch(struct alerts *alerts)
{
	free(alerts->groups);
	alerts->groups = NULL;
	alerts->group_count = 0;
	alert_batch_destroy(&alerts->batch);
}

void alerts_destroy(struct alerts **alerts)
{
	if (*alerts == NULL)
		return;
	forget_batch(*alerts);
	alert_sender_destroy(&(*alerts)->sender);
	free(*alerts);
	*alerts = NULL;
}

void alerts_reload(struct alerts *alerts)
{
	alerts->has_new_settings = true;
}

static enum result settle_group(
	struct alerts *alerts, struct db *db, struct alert_group *group, struct error *error)
{
	const struct alert_target_list *list = alert_sender_targets(alerts->sender);
	bool has_failed = alert_group_has_failed(group, list->count);
	char *targets = alert_group_write_targets(group, list);
	uint64_t ids[ALERT_GROUP_ROWS_MAX];
	struct alert_delivery delivery = { .lease_token = alerts->batch->lease_token,
		.ids = ids,
		.count = group->count,
		.targets = targets,
		.reason = group->reason,
		.delay_ms = has_failed ? alert_group_delay_ms(group)
				       : alerts->settings->alert_repeat_ms };
	enum result result;

	for (size_t i = 0; i < group->count; i++)
		ids[i] = group->rows[i]->id;
	result = has_failed ? alert_put_off(db, &delivery, error)
			    : alert_mark_sent(db, &delivery, error);
	free(targets);
	group->is_settled = result == RESULT_OK;
	if (result == RESULT_OK && has_failed && delivery.delay_ms == 0)
		log_error(log_event("alert_given_up"), log_uint("alerts", group->count),
			log_text("error", group->reason));
	return result;
}

static enum result settle(struct alerts *alerts, struct db *db, struct error *error)
{
	size_t target_count = alert_sender_targets(alerts->sender)->count;
	enum result result = RESULT_OK;
	bool is_over = true;

	for (size_t i = 0; i < alerts->group_count && result == RESULT_OK; i++) {
		struct alert_group *group = &alerts->groups[i];

		if (!group->is_settled && alert_group_is_over(group, target_count))
			result = settle_group(alerts, db, group, error);
		is_over = is_over && group->is_settled;
	}
	if (result == RESULT_OK && is_over)
		forget_batch(alerts);
	return result;
}

/* OK: this process is the one that delivers. */
static enum result take_lock(struct alerts *alerts, struct db *db, struct error *error)
{
	static const char sql[] =
		"SELECT GET_LOCK(LEFT(CONCAT('lapse.alerts.', DATABASE()), 64), 0)";
	struct db_rows *rows = NULL;
	uint64_t now_ms = clock_now_ms();

	if (alerts->lock_epoch == db_epoch(db))
		return RESULT_OK;
	alerts->lock_epoch = 0;
	if (now_ms < alerts->lock_try_ms)
		return RESULT_NONE;
	alerts->lock_try_ms = now_ms + LOCK_TRY_MS;
	enum result result = db_query(db, sql, NULL, 0, &rows, error);
	bool is_ours = result == RESULT_OK && db_rows_next(rows) && db_rows_uint(rows, 0) == 1;
	db_rows_destroy(&rows);
	if (result != RESULT_OK || !is_ours)
		return result == RESULT_OK ? RESULT_NONE : result;
	/* What is under way here is leased still. */
	if (alerts->batch == NULL)
		result = alert_end_leases(db, error);
	if (result != RESULT_OK)
		return result;
	alerts->lock_epoch = db_epoch(db);
	log_info(log_event("alerts_taken_over"));
	return RESULT_OK;
}

static enum result cure(struct alerts *alerts, struct db *db, struct error *error)
{
	uint64_t now_ms = clock_now_ms();
	uint64_t count = 0;

	if (now_ms < alerts->cure_ms)
		return RESULT_OK;
	enum result result = alert_resolve_cured(db, &count, error);
	if (result == RESULT_OK)
		alerts->cure_ms = now_ms + CURE_MS;
	if (count > 0)
		log_info(log_event("alerts_cured"), log_uint("count", count));
	return result;
}

static enum result look(struct alerts *alerts, struct db *db, struct error *error)
{
	uint64_t now_ms = clock_now_ms();

	if (now_ms < alerts->look_ms)
		return RESULT_NONE;
	alerts->look_ms = now_ms + LOOK_MS;
	enum result result = alert_claim(db, CLAIM_LIMIT, LEASE_MS,
		alerts->settings->alert_group_wait_ms, &alerts->batch, error);
	if (result == RESULT_OK)
		alerts->groups = alert_group_list(
			alerts->batch, alert_sender_targets(alerts->sender), &alerts->group_count);
	return result;
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
	}
	return RESULT_OK;
}

static enum result run(struct alerts *alerts, struct db *db, struct error *error)
{
	enum result result = alerts->batch == NULL ? RESULT_OK : settle(alerts, db, error);

	if (alerts->batch == NULL && alerts->has_new_settings) {
		alert_sender_take_settings(alerts->sender);
		alerts->has_new_settings = false;
	}
	if (result != RESULT_OK || alert_sender_targets(alerts->sender)->count == 0)
		return result;
	result = take_lock(alerts, db, error);
	if (result == RESULT_OK)
		result = cure(alerts, db, error);
	if (result == RESULT_OK && alerts->batch == NULL)
		result = look(alerts, db, error);
	return error_context(result, error, "alerts");
}

enum result alerts_step(struct alerts *alerts, struct db *db, struct error *error)
{
	enum result result = contain(alerts, db, run(alerts, db, error), error);

	alert_sender_send(alerts->sender, alerts->groups, alerts->group_count);
	return result;
}

enum result alerts_drain(struct alerts *alerts, struct db *db, struct error *error)
{
	enum result result = alerts->batch == NULL ? RESULT_OK : settle(alerts, db, error);

	return result == RESULT_OK && !alert_sender_is_busy(alerts->sender) ? RESULT_NONE : result;
}

uint64_t alerts_wait_ms(const struct alerts *alerts, uint64_t limit_ms)
{
	uint64_t wait_ms = limit_ms < LOOK_MS ? limit_ms : LOOK_MS;

	return alerts->batch == NULL ? wait_ms : alert_sender_wait_ms(alerts->sender, wait_ms);
}

void alerts_dump(const struct alerts *alerts)
{
	log_info(log_event("dump_alerts"),
		log_uint("targets", alert_sender_targets(alerts->sender)->count),
		log_text("delivers", alerts->lock_epoch == 0 ? "no" : "yes"),
		log_uint("messages", alerts->group_count),
		log_text("sending", alert_sender_is_busy(alerts->sender) ? "yes" : "no"));
}
