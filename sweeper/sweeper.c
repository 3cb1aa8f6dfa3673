#include "sweeper/sweeper.h"

#include <assert.h>
#include <stdlib.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/base/random.h"
#include "common/base/text.h"
#include "common/order/close.h"
#include "common/order/close_due.h"
#include "common/order/housekeeping.h"
#include "common/order/payment.h"
#include "common/report/close_report.h"

enum {
	STEP_WAIT_MS = 1000,
	MISS_INTERVAL_MS = 1000, /* between passes while they find misses */
	PING_INTERVAL_MS = 5000,
	CHORE_INTERVAL_MS = 2000, /* between batches of housekeeping that find something */
	CHORE_BATCH = 500,
	UNKNOWN_BATCH = 100,
	UNKNOWN_INTERVAL_MS = 5000, /* between two looks at payments of unknown orders */
	OVERDUE_MAX_MS = 500,       /* a sweep leaves messages so much time to close an order */
};

struct sweeper {
	const struct sweeper_settings *settings;
	struct db *db;
	struct close_cursor cursor;
	struct close_order *orders;
	struct sweeper_progress pass;
	uint64_t pass_start_ms;
	uint64_t next_pass_ms;
	uint64_t next_ping_ms;
	uint64_t next_chore_ms;
	uint64_t next_unknown_ms;
	uint64_t unknown_last_id; /* how far the look at them has come */
};

enum family {
	FAMILY_SWEEPS,
	FAMILY_DURATION,
	FAMILY_DELETED,
	FAMILY_UNKNOWN,
	FAMILY_COUNT,
};

enum sweep_result {
	SWEEP_RESULT_OK,
	SWEEP_RESULT_ERROR,
};

static const char *const sweep_series[] = { "result=\"ok\"", "result=\"error\"", NULL };
static const char *const deleted_series[] = { "table=\"outbox\"", "table=\"compensation\"",
	"table=\"inbox\"", "table=\"alert\"", NULL };
static_assert(ARRAY_LENGTH(deleted_series) == HOUSEKEEPING_TABLE_COUNT + 1, "deleted series");

static const struct metric_family sweeper_metrics[] = {
	[FAMILY_SWEEPS] = { METRIC_TYPE_COUNTER, "lapse_sweeps_total", "Whole sweeps.",
		sweep_series, NULL },
	[FAMILY_DURATION] = { METRIC_TYPE_HISTOGRAM, "lapse_sweep_duration_seconds",
		"Time of a whole sweep.", NULL, metrics_duration_bounds },
	[FAMILY_DELETED] = { METRIC_TYPE_COUNTER, "lapse_housekeeping_deleted_total",
		"Old rows deleted.", deleted_series, NULL },
	[FAMILY_UNKNOWN] = { METRIC_TYPE_COUNTER, "lapse_unknown_payments_settled_total",
		"Payments of unknown orders judged anew after their grace.", NULL, NULL },
	[FAMILY_COUNT] = METRIC_END,
};

static const struct setting sweeper_settings_table[] = {
	SETTINGS_SHARED(struct sweeper_settings, service, service_settings_table),
	SETTINGS_SHARED(struct sweeper_settings, mysql, db_settings_table),
	SETTING_DURATION(struct sweeper_settings, interval_ms, "LAPSE_SWEEP_INTERVAL", "60s",
		SECONDS(1), HOURS(1), "time between two sweeps that find nothing"),
	SETTING_UINT(struct sweeper_settings, batch, "LAPSE_SWEEP_BATCH", "500", 1, CLOSE_BATCH_MAX,
		"orders closed in one transaction"),
	SETTING_DURATION(struct sweeper_settings, budget_ms, "LAPSE_SWEEP_BUDGET", "20s",
		MILLISECONDS(100), HOURS(1), "time of one round before other chores get a turn"),
	SETTING_DURATION(struct sweeper_settings, retention_ms, "LAPSE_RETENTION", "7d", HOURS(1),
		DAYS(3650), "age at which finished rows are deleted"),
	SETTING_DURATION(struct sweeper_settings, unknown_grace_ms, "LAPSE_UNKNOWN_ORDER_GRACE",
		"10m", SECONDS(1), DAYS(30),
		"wait for an unknown order before its money goes back"),
	SETTING_END,
};

static void check_settings(const void *settings, struct settings_report *report)
{
	const struct sweeper_settings *sweeper = settings;

	db_check_settings(&sweeper->mysql, report);
}

static bool take_argument(void *settings, const char *argument)
{
	struct sweeper_settings *sweeper = settings;

	if (!text_equals(argument, "--once"))
		return false;
	sweeper->runs_once = true;
	return true;
}

static void dump(void *context)
{
	const struct sweeper *sweeper = context;
	uint64_t now_ms = clock_now_ms();

	log_info(log_event("dump"), log_uint("mysql", db_is_connected(sweeper->db)),
		log_text("cursor", sweeper->cursor.expire_time),
		log_uint("cursor_id", sweeper->cursor.id),
		log_uint("pass_closed", sweeper->pass.closed),
		log_uint("next_pass_in_ms",
			sweeper->next_pass_ms > now_ms ? sweeper->next_pass_ms - now_ms : 0));
}

const struct service_program sweeper_program = {
	.name = "lapse-sweeper",
	.summary = "closes due orders that no message closed, oldest first",
	.settings = sweeper_settings_table,
	.check = check_settings,
	.metrics = sweeper_metrics,
	.checks = SERVICE_CHECK_MYSQL,
	.dump = dump,
	.take_argument = take_argument,
	.usage = "  --once                     one full pass, then leave: for cron\n",
};

/* A slow MySQL makes a step long, but the loop turns. */
static void note_turn(void *context)
{
	(void)context;
	service_note_turn();
}

void sweeper_create(const struct sweeper_settings *settings, struct sweeper **sweeper_out)
{
	struct sweeper *sweeper = memory_allocate(sizeof(*sweeper));

	sweeper->settings = settings;
	sweeper->orders = memory_allocate_array(settings->batch, sizeof(*sweeper->orders));
	db_create(&settings->mysql, &sweeper->db);
	db_set_companion(sweeper->db, note_turn, NULL);
	close_report_register();
	*sweeper_out = sweeper;
}

void sweeper_destroy(struct sweeper **sweeper)
{
	if (*sweeper == NULL)
		return;
	db_destroy(&(*sweeper)->db);
	free((*sweeper)->orders);
	free(*sweeper);
	*sweeper = NULL;
}

/* Messages go first: what has just become due is most likely on its way. */
static uint64_t overdue_ms(const struct sweeper *sweeper)
{
	uint64_t quarter_ms = sweeper->settings->interval_ms / 4;

	if (sweeper->settings->runs_once)
		return 0;
	return quarter_ms < OVERDUE_MAX_MS ? quarter_ms : OVERDUE_MAX_MS;
}

static void count_outcomes(
	const struct sweeper *sweeper, size_t count, struct sweeper_progress *progress)
{
	for (size_t i = 0; i < count; i++) {
		if (sweeper->orders[i].outcome == CLOSE_OUTCOME_CLOSED)
			progress->closed++;
		if (sweeper->orders[i].outcome == CLOSE_OUTCOME_FAILED)
			progress->failed++;
	}
}

enum result sweeper_sweep_batch(
	struct sweeper *sweeper, struct sweeper_progress *progress, struct error *error)
{
	const struct close_due_request due = { sweeper->settings->batch, overdue_ms(sweeper),
		&sweeper->cursor };
	struct close_report report = { .transactions = 0 };
	const struct close_request request = {
		.reason = CLOSE_REASON_TIMEOUT, .source = CLOSE_SOURCE_SWEEP, .report = &report
	};
	size_t count = 0;
	enum result result =
		close_due_orders(sweeper->db, &due, sweeper->orders, &count, &report, error);

	progress->is_pass_over =
		result == RESULT_NONE || (result == RESULT_OK && count < sweeper->settings->batch);
	close_report_count(&request, sweeper->orders, result == RESULT_OK ? count : 0);
	if (result != RESULT_OK)
		return error_context(result, error, "sweep");
	count_outcomes(sweeper, count, progress);
	return error_context(
		close_report_alert(sweeper->db, sweeper->orders, count, error), error, "sweep");
}

enum result sweeper_count_due(
	struct sweeper *sweeper, uint64_t limit, uint64_t *count_out, struct error *error)
{
	static const char sql[] =
		"SELECT COUNT(*) FROM (SELECT 1 FROM t_order FORCE INDEX (idx_status_expire) "
		"WHERE status = 'UNPAID' AND expire_time <= UTC_TIMESTAMP(3) LIMIT ?) AS due";
	const struct db_param params[] = { db_uint(limit) };
	struct db_rows *rows = NULL;
	enum result result = db_ensure_connected(sweeper->db, error);

	if (result == RESULT_OK)
		result = db_query(sweeper->db, sql, params, ARRAY_LENGTH(params), &rows, error);
	*count_out = db_rows_next(rows) ? db_rows_uint(rows, 0) : 0;
	db_rows_destroy(&rows);
	return result;
}

void sweeper_start_pass(struct sweeper *sweeper)
{
	sweeper->cursor = (struct close_cursor){ .id = 0 };
}

static void start_pass(struct sweeper *sweeper, uint64_t now_ms)
{
	sweeper_start_pass(sweeper);
	sweeper->pass = (struct sweeper_progress){ .closed = 0 };
	sweeper->pass_start_ms = now_ms;
}

/* The full interval, a little spread between sweepers, only when nothing was missed. */
static void end_pass(struct sweeper *sweeper, uint64_t now_ms)
{
	uint64_t took_ms = now_ms - sweeper->pass_start_ms;
	uint64_t interval_ms = sweeper->settings->interval_ms;

	metrics_add(&sweeper_metrics[FAMILY_SWEEPS], SWEEP_RESULT_OK, 1);
	metrics_observe(&sweeper_metrics[FAMILY_DURATION], 0, (double)took_ms / 1000);
	if (sweeper->pass.closed > 0) {
		log_info(log_event("sweep_found_misses"), log_uint("closed", sweeper->pass.closed),
			log_uint("failed", sweeper->pass.failed), log_uint("took_ms", took_ms));
		interval_ms = MISS_INTERVAL_MS;
	} else {
		interval_ms -= random_up_to(interval_ms / 10);
	}
	sweeper->next_pass_ms = now_ms + interval_ms;
	start_pass(sweeper, now_ms);
}

/* Deletes a batch of each table; comes back soon while there is something to delete. */
static enum result keep_house(struct sweeper *sweeper, uint64_t now_ms, struct error *error)
{
	bool found_any = false;

	sweeper->next_chore_ms = now_ms + sweeper->settings->interval_ms;
	for (int table = 0; table < HOUSEKEEPING_TABLE_COUNT; table++) {
		uint64_t deleted = 0;
		enum result result =
			housekeeping_delete(sweeper->db, (enum housekeeping_table)table,
				sweeper->settings->retention_ms, CHORE_BATCH, &deleted, error);

		if (result != RESULT_OK)
			return result;
		metrics_add(&sweeper_metrics[FAMILY_DELETED], (size_t)table, deleted);
		found_any = found_any || deleted == CHORE_BATCH;
	}
	if (found_any)
		sweeper->next_chore_ms = now_ms + CHORE_INTERVAL_MS;
	return RESULT_OK;
}

static enum result settle_unknown(struct sweeper *sweeper, uint64_t now_ms, struct error *error)
{
	struct payment_unknown unknown = { .last_id = sweeper->unknown_last_id };
	enum result result = payment_settle_unknown(
		sweeper->db, sweeper->settings->unknown_grace_ms, UNKNOWN_BATCH, &unknown, error);

	/* Comes back at once while there is more. */
	sweeper->unknown_last_id = unknown.last_id;
	if (result != RESULT_OK)
		sweeper->next_unknown_ms = now_ms + UNKNOWN_INTERVAL_MS;
	metrics_add(&sweeper_metrics[FAMILY_UNKNOWN], 0, unknown.settled);
	if (unknown.settled > 0)
		log_info(log_event("unknown_payments_settled"), log_uint("count", unknown.settled));
	return result;
}

/* Between passes: chores, a look whether MySQL is still there, a wait. */
static enum result rest(struct sweeper *sweeper, uint64_t now_ms, struct error *error)
{
	enum result result = RESULT_NONE;

	if (now_ms >= sweeper->next_chore_ms)
		return keep_house(sweeper, now_ms, error);
	if (now_ms >= sweeper->next_unknown_ms)
		return settle_unknown(sweeper, now_ms, error);
	if (now_ms >= sweeper->next_ping_ms) {
		sweeper->next_ping_ms = now_ms + PING_INTERVAL_MS;
		result = db_ping(sweeper->db, error);
	}
	if (result == RESULT_OK || result == RESULT_NONE) {
		uint64_t left_ms = sweeper->next_pass_ms - now_ms;

		clock_wait_ms(left_ms < STEP_WAIT_MS ? left_ms : STEP_WAIT_MS);
	}
	return result;
}

static enum result sweep_or_rest(struct sweeper *sweeper, struct error *error)
{
	uint64_t now_ms = clock_now_ms();

	if (now_ms < sweeper->next_pass_ms)
		return rest(sweeper, now_ms, error);
	if (sweeper->cursor.id == 0)
		start_pass(sweeper, now_ms);
	enum result result = sweeper_sweep_batch(sweeper, &sweeper->pass, error);
	now_ms = clock_now_ms();
	if (result == RESULT_TEMPORARY || result == RESULT_PERMANENT)
		metrics_add(&sweeper_metrics[FAMILY_SWEEPS], SWEEP_RESULT_ERROR, 1);
	else if (sweeper->pass.is_pass_over)
		end_pass(sweeper, now_ms);
	else if (now_ms - sweeper->pass_start_ms >= sweeper->settings->budget_ms) {
		/* The round is over, the pass goes on from its cursor after the chores. */
		result = keep_house(sweeper, now_ms, error);
		if (result == RESULT_OK)
			result = settle_unknown(sweeper, now_ms, error);
		sweeper->pass_start_ms = now_ms;
	}
	return result;
}

enum result sweeper_step(void *context, struct error *error)
{
	struct sweeper *sweeper = context;
	enum result result = db_ensure_connected(sweeper->db, error);

	if (result == RESULT_OK)
		result = sweep_or_rest(sweeper, error);
	/* A lost race is no trouble of MySQL's. */
	service_set_check(SERVICE_CHECK_MYSQL,
		result != RESULT_TEMPORARY && result != RESULT_PERMANENT, error->text);
	return result;
}
