#include "ctl/status.h"

#include <assert.h>
#include <inttypes.h>

#include "common/base/settings.h"
#include "common/base/text.h"
#include "common/io/db.h"
#include "common/order/overview.h"
#include "ctl/figure.h"
#include "ctl/queues.h"
#include "ctl/session.h"
#include "version.h"

enum {
	TIME_LIMIT_S = 60,
};

/* Ages at which an operator must act; the same as in the alert rules. */
static const uint64_t outbox_stuck_ms = SECONDS(60);
static const uint64_t tasks_old_ms = MINUTES(30);
static const uint64_t undelivered_ms = MINUTES(10);

static enum figure_level red_if(bool is_red)
{
	return is_red ? FIGURE_LEVEL_RED : FIGURE_LEVEL_GREEN;
}

static enum figure_level yellow_if(bool is_yellow)
{
	return is_yellow ? FIGURE_LEVEL_YELLOW : FIGURE_LEVEL_GREEN;
}

/* Red when it is old, yellow when there is any. */
static enum figure_level judge(bool is_any, bool is_old)
{
	return is_old ? FIGURE_LEVEL_RED : yellow_if(is_any);
}

static void add_orders(struct figure_list *list, const struct overview *overview,
	const struct session_settings *settings)
{
	bool is_broken = overview->overdue_oldest_ms > 2 * settings->sweep_interval_ms;

	figure_add_count(list, "orders_waiting", overview->orders_waiting, FIGURE_LEVEL_GREEN);
	figure_add_count(list, "orders_overdue", overview->orders_overdue,
		judge(overview->orders_overdue > 0, is_broken));
	figure_add_time(list, "orders_overdue_oldest_ms", (int64_t)overview->overdue_oldest_ms,
		red_if(is_broken));
}

static void add_closes(struct figure_list *list, const struct overview *overview)
{
	figure_add_count(list, "closes_last_hour", overview->closes, FIGURE_LEVEL_GREEN);
	if (overview->is_close_cut)
		figure_add_text(list, "closes_note", "only the newest closes were looked at",
			FIGURE_LEVEL_GREEN);
	figure_add_count(
		list, "closes_by_sweep_last_hour", overview->closes_swept, FIGURE_LEVEL_GREEN);
	if (overview->closes == 0) {
		figure_add_unknown(list, "lateness_p50_ms", "nothing closed", FIGURE_LEVEL_GREEN);
		figure_add_unknown(list, "lateness_p99_ms", "nothing closed", FIGURE_LEVEL_GREEN);
		return;
	}
	figure_add_time(list, "lateness_p50_ms", overview->lag_p50_ms, FIGURE_LEVEL_GREEN);
	figure_add_time(list, "lateness_p99_ms", overview->lag_p99_ms, FIGURE_LEVEL_GREEN);
}

static void add_outbox(struct figure_list *list, const struct overview *overview)
{
	bool is_stuck = overview->outbox_oldest_ms > outbox_stuck_ms;

	figure_add_count(list, "outbox_due", overview->outbox_due, red_if(is_stuck));
	figure_add_time(list, "outbox_due_oldest_ms", (int64_t)overview->outbox_oldest_ms,
		red_if(is_stuck));
	figure_add_count(list, "outbox_later", overview->outbox_waiting, FIGURE_LEVEL_GREEN);
	figure_add_count(list, "outbox_failed", overview->outbox_failed,
		yellow_if(overview->outbox_failed > 0));
}

/* One name for each kind and status, since names live as long as the program. */
static const char *const task_names[BACKLOG_KINDS][BACKLOG_STATUSES] = {
	[COMPENSATION_KIND_STOCK_RESTORE] = { "stock_restore_pending", "stock_restore_running",
		NULL, "stock_restore_dead" },
	[COMPENSATION_KIND_REFUND] = { "refund_pending", "refund_running", NULL, "refund_dead" },
	[COMPENSATION_KIND_WEBHOOK] = { "webhook_pending", "webhook_running", NULL,
		"webhook_dead" },
};

static void add_tasks(struct figure_list *list, const struct overview *overview)
{
	uint64_t oldest_ms[BACKLOG_STATUSES] = { 0 };

	for (size_t kind = 0; kind < BACKLOG_KINDS; kind++) {
		for (size_t status = 0; status < BACKLOG_STATUSES; status++) {
			const struct backlog_pile *tasks = &overview->tasks[kind][status];
			bool is_dead = status == COMPENSATION_STATUS_DEAD;

			if (task_names[kind][status] == NULL)
				continue;
			figure_add_count(list, task_names[kind][status], tasks->count,
				red_if(is_dead && tasks->count > 0));
			if (tasks->oldest_ms > oldest_ms[status])
				oldest_ms[status] = tasks->oldest_ms;
		}
	}
	figure_add_time(list, "tasks_pending_oldest_ms",
		(int64_t)oldest_ms[COMPENSATION_STATUS_PENDING],
		red_if(oldest_ms[COMPENSATION_STATUS_PENDING] > tasks_old_ms));
	figure_add_time(list, "tasks_dead_oldest_ms", (int64_t)oldest_ms[COMPENSATION_STATUS_DEAD],
		FIGURE_LEVEL_GREEN);
}

static void add_alerts(struct figure_list *list, const struct backlog_alerts *alerts)
{
	const struct backlog_pile *undelivered = &alerts->undelivered;
	bool is_old = undelivered->oldest_ms > undelivered_ms;

	figure_add_count(list, "alerts_firing", alerts->firing, yellow_if(alerts->firing > 0));
	figure_add_count(list, "alerts_undelivered", undelivered->count, red_if(is_old));
	figure_add_time(list, "alerts_undelivered_oldest_ms", (int64_t)undelivered->oldest_ms,
		red_if(is_old));
	figure_add_count(list, "alerts_failed", alerts->given_up, red_if(alerts->given_up > 0));
}

static void add_due_queue(
	struct figure_list *list, const struct queue_state *due, bool needs_consumer)
{
	if (!due->is_there) {
		figure_add_unknown(list, "queue_due_ready", "the queue is not there",
			yellow_if(needs_consumer));
		figure_add_unknown(list, "queue_due_consumers", "the queue is not there",
			yellow_if(needs_consumer));
		return;
	}
	figure_add_count(list, "queue_due_ready", due->ready, FIGURE_LEVEL_GREEN);
	figure_add_count(list, "queue_due_consumers", due->consumers,
		red_if(needs_consumer && due->consumers == 0));
}

static void add_queues(struct figure_list *list, const struct status_view *view)
{
	struct queues queues;
	bool is_needed = view->session->settings->topology.delay != TOPOLOGY_MODE_NONE;

	queues_look(view->queues, &queues);
	const char *why = queues.is_configured ? queues.error.text : "LAPSE_AMQP_URL is not set";
	enum figure_level level = red_if(queues.is_configured && is_needed);
	if (!queues.due.is_known || !queues.parked.is_known) {
		figure_add_unknown(list, "broker", why, level);
		figure_add_unknown(list, "queue_due_ready", why, FIGURE_LEVEL_GREEN);
		figure_add_unknown(list, "queue_due_consumers", why, FIGURE_LEVEL_GREEN);
		figure_add_unknown(list, "queue_parked_ready", why, FIGURE_LEVEL_GREEN);
		return;
	}
	figure_add_text(list, "broker", queues.server, FIGURE_LEVEL_GREEN);
	add_due_queue(list, &queues.due, is_needed);
	if (queues.parked.is_there)
		figure_add_count(list, "queue_parked_ready", queues.parked.ready,
			yellow_if(queues.parked.ready > 0));
	else
		figure_add_unknown(
			list, "queue_parked_ready", "the queue is not there", FIGURE_LEVEL_GREEN);
}

static void add_schema(struct figure_list *list, uint32_t version)
{
	figure_add_count(list, "schema_version", version, red_if(version < LAPSE_SCHEMA_VERSION));
	figure_add_count(list, "schema_needed", LAPSE_SCHEMA_VERSION, FIGURE_LEVEL_GREEN);
}

void status_open(const struct session *session, struct status_view *view)
{
	*view = (struct status_view){ .session = session };
	queues_open(session->settings, &view->queues);
}

void status_close(struct status_view *view)
{
	queues_close(&view->queues);
}

/* Once for each connection. */
static enum result read_schema(struct status_view *view, struct error *error)
{
	uint64_t epoch = db_epoch(view->session->db);

	if (epoch == view->epoch)
		return RESULT_OK;
	enum result result = session_read_schema(view->session, &view->version, error);
	view->epoch = result == RESULT_OK ? epoch : 0;
	return result;
}

int status_fill(struct status_view *view, struct figure_list *list)
{
	const struct session *session = view->session;
	const struct session_settings *settings = session->settings;
	const struct overview_limits limits = {
		.overdue_grace_ms = settings->overdue_grace_ms,
		.close_window_ms = HOURS(1),
	};
	struct overview overview;
	struct error error = { 0 };
	enum result result = read_schema(view, &error);

	if (result != RESULT_OK)
		return session_fail(session, result, &error);
	add_schema(list, view->version);
	if (view->version < LAPSE_SCHEMA_VERSION) {
		output_say(&session->output, "the schema is not there or too old: run lapsectl "
					     "migrate");
		return EXIT_STATUS_OK; /* red, which --check turns into a failure */
	}
	result = overview_read(session->db, &limits, &overview, &error);
	if (result != RESULT_OK)
		return session_fail(session, result, &error);
	figure_add_text(list, "mysql_time", overview.time, FIGURE_LEVEL_GREEN);
	figure_add_text(list, "mysql_version", db_server_version(session->db), FIGURE_LEVEL_GREEN);
	add_orders(list, &overview, settings);
	add_closes(list, &overview);
	add_outbox(list, &overview);
	add_tasks(list, &overview);
	add_alerts(list, &overview.alerts);
	add_queues(list, view);
	return EXIT_STATUS_OK;
}

int status_run(const struct session *session)
{
	struct figure_list *list = NULL;
	struct status_view view;
	int status;

	db_set_time_limit(session->db, TIME_LIMIT_S);
	status = session_connect(session);
	if (status != EXIT_STATUS_OK)
		return status;
	list = figure_list_create();
	status_open(session, &view);
	status = status_fill(&view, list);
	status_close(&view);
	if (status == EXIT_STATUS_OK)
		figure_list_print(list, &session->output);
	if (status == EXIT_STATUS_OK && option_is_given(session->options, OPTION_CHECK) &&
		figure_list_has_red(list))
		status = EXIT_STATUS_FAILED;
	figure_list_destroy(&list);
	return status;
}
