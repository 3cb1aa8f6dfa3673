#include "retry/retry.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/io/http.h"
#include "common/order/compensation.h"
#include "common/order/subscriber.h"
#include "common/report/alert_origin.h"
#include "common/report/contract.h"
#include "retry/alerts.h"
#include "retry/answer.h"
#include "retry/receiver.h"
#include "retry/retry_metrics.h"
#include "retry/work.h"

enum {
	STEP_WAIT_MS = 1000,
	PING_INTERVAL_MS = 5000,
	LEASE_MARGIN_MS = 1000, /* a lease is longer than a call by at least this */
	BATCH_MAX = 200,        /* results of so many fit into the answer that is read */
};

struct retry {
	const struct retry_settings *settings;
	struct db *db;
	struct http *http;
	struct work *work;
	struct alerts *alerts;
	uint64_t db_epoch; /* of the connection that readiness knows of */
	uint64_t next_ping_ms;
	bool is_db_away;    /* answers are taken, nothing new is begun */
	bool is_given_back; /* draining has begun */
	char missing[256];  /* as readiness knows it */
};

static const struct setting retry_settings_table[] = {
	SETTINGS_SHARED(struct retry_settings, service, service_settings_table),
	SETTINGS_SHARED(struct retry_settings, db, db_settings_table),
	SETTING_TEXT(struct retry_settings, stock_url, "LAPSE_STOCK_URL", NULL,
		"product service; restores wait while it is not set"),
	SETTING_UINT(struct retry_settings, stock_batch, "LAPSE_STOCK_BATCH", "1", 1, BATCH_MAX,
		"restores in one call; more than 1 changes the body"),
	SETTING_CHOICE(struct retry_settings, stock_success, "LAPSE_STOCK_SUCCESS", "code",
		answer_success_names, "code: 200 or 201 and code 0; status: any 2xx"),
	SETTING_TEXT(struct retry_settings, refund_url, "LAPSE_REFUND_URL", NULL,
		"refund service; refunds wait while it is not set"),
	SETTING_TEXT(struct retry_settings, webhooks_file, "LAPSE_WEBHOOKS_FILE", NULL,
		"subscribers, one a line: name, events, address, secret; read again on HUP"),
	SETTING_DURATION(struct retry_settings, http_timeout_ms, "LAPSE_HTTP_TIMEOUT", "3s",
		MILLISECONDS(50), MINUTES(5), "longest time of one call"),
	SETTING_UINT(struct retry_settings, http_concurrency, "LAPSE_HTTP_CONCURRENCY", "64", 1,
		1024, "calls at a time"),
	SETTING_UINT(struct retry_settings, retry_max, "LAPSE_RETRY_MAX", "5", 0,
		COMPENSATION_RETRY_MAX, "retries behind the first call"),
	SETTING_DURATION(struct retry_settings, retry_base_ms, "LAPSE_RETRY_BASE", "5s",
		MILLISECONDS(1), HOURS(1), "longest wait before the first retry; it doubles"),
	SETTING_DURATION(struct retry_settings, retry_cap_ms, "LAPSE_RETRY_CAP", "10m",
		MILLISECONDS(1), DAYS(1), "longest wait before any retry"),
	SETTING_DURATION(struct retry_settings, retry_interval_ms, "LAPSE_RETRY_INTERVAL", "200ms",
		MILLISECONDS(10), MINUTES(1), "time between two looks that find nothing"),
	SETTING_DURATION(struct retry_settings, lease_ms, "LAPSE_LEASE", "30s", SECONDS(1),
		HOURS(1), "how long a claimed task belongs to one process"),
	SETTING_CUSTOM(struct retry_settings, alert_targets, "LAPSE_ALERT_TARGETS", NULL,
		&alert_target_setting,
		"names, each with LAPSE_ALERT_<NAME>_TYPE, _URL, _SECRET, _TOKEN, _KEYWORD, "
		"_MENTION, _MIN_SEVERITY"),
	SETTING_DURATION(struct retry_settings, alert_group_wait_ms, "LAPSE_ALERT_GROUP_WAIT",
		"10s", 0, HOURS(1), "how long a new alert waits for its company"),
	SETTING_DURATION(struct retry_settings, alert_repeat_ms, "LAPSE_ALERT_REPEAT", "4h", 0,
		DAYS(30), "time between reminders of an alert that still fires; 0s: none"),
	SETTING_TEXT(struct retry_settings, env_label, "LAPSE_ENV_LABEL", "dev", "label of alerts"),
	SETTING_CHOICE(struct retry_settings, language, "LAPSE_CONSOLE_LANG", "en",
		alert_language_names, "language of messages to people"),
	SETTING_TEXT(struct retry_settings, console_url, "LAPSE_CONSOLE_URL", NULL,
		"address of the console, for links"),
	SETTING_TEXT(struct retry_settings, runbook_url, "LAPSE_RUNBOOK_URL", NULL,
		"address of the runbook, for links"),
	SETTING_END,
};

/* A path is put behind it. */
static void check_base_url(const char *name, const char *url, struct settings_report *report)
{
	if (url != NULL && (!http_is_url(url) || strchr(url, '?') != NULL))
		settings_report_add(report, "%s: is no http:// or https:// address", name);
}

static void check_settings(const void *settings, struct settings_report *report)
{
	const struct retry_settings *retry = settings;

	db_check_settings(&retry->db, report);
	check_base_url("LAPSE_STOCK_URL", retry->stock_url, report);
	check_base_url("LAPSE_REFUND_URL", retry->refund_url, report);
	subscriber_check_file(retry->webhooks_file, report);
	if (retry->lease_ms != 0 && retry->http_timeout_ms != 0 &&
		retry->lease_ms < retry->http_timeout_ms + LEASE_MARGIN_MS)
		settings_report_add(
			report, "LAPSE_LEASE: is not longer than LAPSE_HTTP_TIMEOUT by 1s or more");
	/* The labels of the metrics are known from here on. */
	retry_metrics_name_series(retry);
}

static void dump(void *context)
{
	const struct retry *retry = context;

	log_info(log_event("dump_retry"), log_uint("mysql", db_is_connected(retry->db)),
		log_uint("calls", http_count_running(retry->http)));
	work_dump(retry->work);
	alerts_dump(retry->alerts);
}

static void reload(void *context)
{
	struct retry *retry = context;

	alerts_reload(retry->alerts);
	work_reload(retry->work);
}

static void take_answers(struct retry *retry)
{
	struct http_answer answer;

	while (http_take_answer(retry->http, &answer)) {
		struct receiver *receiver = answer.context;

		receiver->take(receiver, &answer);
	}
}

/* Have the words about what cannot be called changed? */
static bool has_news(struct retry *retry)
{
	const char *missing = work_missing_targets(retry->work);

	if (text_equals(missing, retry->missing))
		return false;
	(void)text_copy(retry->missing, sizeof(retry->missing), missing);
	return true;
}

/* Connected, and readiness knows what is missing. */
static enum result connect_db(struct retry *retry, struct error *error)
{
	enum result result = db_ensure_connected(retry->db, error);

	if (result == RESULT_OK && has_news(retry))
		service_set_check(SERVICE_CHECK_MYSQL, true, retry->missing);
	if (result != RESULT_OK || retry->db_epoch == db_epoch(retry->db))
		return result;
	if (retry->db_epoch != 0)
		service_note_reconnect(SERVICE_CHECK_MYSQL);
	retry->db_epoch = db_epoch(retry->db);
	service_set_check(SERVICE_CHECK_MYSQL, true, retry->missing);
	log_info(log_event("mysql_connected"), log_text("server", db_server_version(retry->db)));
	return RESULT_OK;
}

/* While nothing is claimed, only this notices that the connection is gone. */
static enum result ping(struct retry *retry, struct error *error)
{
	uint64_t now_ms = clock_now_ms();

	if (now_ms < retry->next_ping_ms)
		return RESULT_OK;
	retry->next_ping_ms = now_ms + PING_INTERVAL_MS;
	return db_ping(retry->db, error);
}

static enum result use_db(struct retry *retry, struct error *error)
{
	enum result result = connect_db(retry, error);

	if (result == RESULT_OK)
		result = ping(retry, error);

	if (result == RESULT_OK)
		result = work_settle(retry->work, retry->db, error);
	if (result == RESULT_OK)
		result = alerts_step(retry->alerts, retry->db, error);
	if (result == RESULT_OK)
		result = work_claim(retry->work, retry->db, error);
	return result;
}

/* Answers that nobody reads would be taken for calls that ran out of time, so they are read, also
 * when there is no table to write them into; what they say is kept. */
static bool has_to_listen(struct retry *retry)
{
	if (!retry->is_db_away || http_count_running(retry->http) == 0)
		return false;
	http_work(retry->http, STEP_WAIT_MS);
	take_answers(retry);
	return true;
}

enum result retry_step(void *context, struct error *error)
{
	struct retry *retry = context;

	if (has_to_listen(retry))
		return RESULT_NONE;
	work_load(retry->work);
	enum result result = use_db(retry, error);
	retry->is_db_away = result == RESULT_TEMPORARY;
	work_note_metrics(retry->work);
	if (retry->is_db_away) {
		retry->db_epoch = 0;
		service_set_check(SERVICE_CHECK_MYSQL, false, error->text);
		return has_to_listen(retry) ? RESULT_NONE : result;
	}
	if (result != RESULT_OK && result != RESULT_NONE)
		return result;
	work_start_calls(retry->work);
	http_work(retry->http,
		alerts_wait_ms(retry->alerts, work_wait_ms(retry->work, STEP_WAIT_MS)));
	take_answers(retry);
	return RESULT_OK;
}

static enum result drain(void *context, struct error *error)
{
	struct retry *retry = context;
	enum result work_result = RESULT_OK;
	enum result alerts_result = RESULT_OK;

	if (!retry->is_given_back)
		work_give_back(retry->work);
	retry->is_given_back = true;
	http_work(retry->http, http_count_running(retry->http) > 0 ? STEP_WAIT_MS : 0);
	take_answers(retry);
	if (http_count_running(retry->http) == 0 || db_is_connected(retry->db)) {
		work_result = connect_db(retry, error);
		if (work_result == RESULT_OK)
			work_result = work_settle(retry->work, retry->db, error);
		if (work_result == RESULT_OK)
			alerts_result = alerts_drain(retry->alerts, retry->db, error);
	}
	if (work_result != RESULT_OK)
		return work_result;
	return alerts_result == RESULT_NONE && work_count_open(retry->work) == 0 ? RESULT_NONE
	       : alerts_result == RESULT_NONE                                    ? RESULT_OK
										 : alerts_result;
}

const struct service_program retry_program = {
	.name = "lapse-retry",
	.summary = "runs the compensation table: calls, backs off, gives up, alerts",
	.settings = retry_settings_table,
	.check = check_settings,
	.metrics = retry_metric_families,
	.checks = SERVICE_CHECK_MYSQL,
	.dump = dump,
	.reload = reload,
	.drain = drain,
};

void retry_create(const struct retry_settings *settings, struct retry **retry_out)
{
	struct retry *retry = memory_allocate(sizeof(*retry));

	retry->settings = settings;
	contract_register();
	retry_metrics_show_alerts();
	db_create(&settings->db, &retry->db);
	http_create((uint32_t)settings->http_concurrency + ALERT_TARGET_MAX,
		settings->http_timeout_ms, &retry->http);
	work_create(settings, retry->http, &retry->work);
	work_note_metrics(retry->work);
	alerts_create(settings, retry->http, &retry->alerts);
	if (work_missing_targets(retry->work)[0] != '\0')
		log_warn(log_event("target_not_configured"),
			log_text("words", work_missing_targets(retry->work)));
	*retry_out = retry;
}

void retry_destroy(struct retry **retry)
{
	if (*retry == NULL)
		return;
	http_destroy(&(*retry)->http);
	work_destroy(&(*retry)->work);
	alerts_destroy(&(*retry)->alerts);
	db_destroy(&(*retry)->db);
	free(*retry);
	*retry = NULL;
}
