#include "ctl/top.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/settings.h"
#include "common/base/shutdown.h"
#include "common/base/text.h"
#include "common/io/db.h"
#include "ctl/figure.h"
#include "ctl/session.h"
#include "ctl/status.h"

enum {
	TIME_LIMIT_S = 60,
	WAIT_SLICE_MS = 100,
	RATE_SIZE = 32,
};

/* What is counted up in the tables, with a name for its rate. */
static const struct {
	const char *name;
	const char *sql;
} counters[] = {
	{ "orders_made_per_s", "SELECT COALESCE(MAX(id), 0) FROM t_order" },
	{ "events_written_per_s", "SELECT COALESCE(MAX(id), 0) FROM t_outbox_event" },
	{ "tasks_written_per_s", "SELECT COALESCE(MAX(id), 0) FROM t_compensation" },
	{ "payments_per_s", "SELECT COALESCE(MAX(id), 0) FROM t_payment" },
};

/* What happened in the last seconds, read by an index and bounded. */
static const struct {
	const char *name;
	const char *sql;
} recent[] = {
	{ "closes_per_s", "SELECT COUNT(*) FROM (SELECT 1 FROM t_order WHERE close_time > "
			  "UTC_TIMESTAMP(3) - INTERVAL 10 SECOND LIMIT 1000000) c" },
};
enum {
	RECENT_S = 10
};

struct top {
	const struct session *session;
	uint64_t interval_ms;
	bool is_live; /* each view takes the place of the one before */
	uint64_t counts[ARRAY_LENGTH(counters)];
	uint64_t counted_at_ms; /* 0: not yet */
};

static enum result read_number(
	struct db *db, const char *sql, uint64_t *number_out, struct error *error)
{
	struct db_rows *rows = NULL;
	enum result result = db_query(db, sql, NULL, 0, &rows, error);

	*number_out = db_rows_next(rows) ? db_rows_uint(rows, 0) : 0;
	db_rows_destroy(&rows);
	return result == RESULT_NONE ? RESULT_OK : result;
}

/* One digit behind the point while it is small. */
static void add_rate(struct figure_list *list, const char *name, uint64_t count, uint64_t over_ms)
{
	uint64_t tenths = over_ms == 0 ? 0 : count * 10000 / over_ms;
	char rate[RATE_SIZE];

	(void)text_format(rate, sizeof(rate), "%" PRIu64 ".%" PRIu64, tenths / 10, tenths % 10);
	figure_add_text(list, name, rate, FIGURE_LEVEL_GREEN);
}

/* Ids count up with the rows, gaps included: near enough for a view. */
static enum result add_counters(struct top *top, struct figure_list *list, struct error *error)
{
	uint64_t now_ms = clock_now_ms();
	enum result result = RESULT_OK;

	for (size_t i = 0; result == RESULT_OK && i < ARRAY_LENGTH(counters); i++) {
		uint64_t count = 0;

		result = read_number(top->session->db, counters[i].sql, &count, error);
		if (top->counted_at_ms != 0)
			add_rate(list, counters[i].name,
				count > top->counts[i] ? count - top->counts[i] : 0,
				now_ms - top->counted_at_ms);
		top->counts[i] = count;
	}
	top->counted_at_ms = now_ms;
	return result;
}

static enum result add_rates(struct top *top, struct figure_list *list, struct error *error)
{
	enum result result = RESULT_OK;

	for (size_t i = 0; result == RESULT_OK && i < ARRAY_LENGTH(recent); i++) {
		uint64_t count = 0;

		result = read_number(top->session->db, recent[i].sql, &count, error);
		add_rate(list, recent[i].name, count, UINT64_C(1000) * RECENT_S);
	}
	return result == RESULT_OK ? add_counters(top, list, error) : result;
}

static void wait_for(uint64_t wait_ms)
{
	for (uint64_t end_ms = clock_now_ms() + wait_ms;
		!shutdown_is_requested() && clock_now_ms() < end_ms;)
		clock_wait_ms(WAIT_SLICE_MS);
}

static int show(struct top *top)
{
	struct figure_list *list = figure_list_create();
	struct error error = { .text = "" };
	enum result result = add_rates(top, list, &error);
	int status = result == RESULT_OK ? status_fill(top->session, list)
					 : session_fail(top->session, result, &error);

	/* Home, and nothing of the view before is left. */
	if (top->is_live)
		(void)printf("\033[H\033[2J");
	if (status == EXIT_STATUS_OK)
		figure_list_print(list, &top->session->output);
	if (!top->is_live && top->session->output.form == OUTPUT_FORM_TEXT)
		(void)printf("\n");
	(void)fflush(stdout);
	figure_list_destroy(&list);
	return status;
}

/* The first counts, so that the first view has rates. */
static int count_first(struct top *top)
{
	struct figure_list *list = figure_list_create();
	struct error error = { .text = "" };
	enum result result = add_counters(top, list, &error);

	figure_list_destroy(&list);
	if (result != RESULT_OK)
		return session_fail(top->session, result, &error);
	wait_for(top->interval_ms < SECONDS(1) ? top->interval_ms : SECONDS(1));
	return EXIT_STATUS_OK;
}

/* A server that goes away is waited for: the view is needed most then. */
static int watch(struct top *top)
{
	int status = EXIT_STATUS_OK;

	while (!shutdown_is_requested()) {
		status = session_connect_to_schema(top->session);
		if (status == EXIT_STATUS_OK)
			status = show(top);
		if (status == EXIT_STATUS_NO_PERMISSION || ferror(stdout) != 0)
			return status;
		wait_for(top->interval_ms);
	}
	return EXIT_STATUS_OK;
}

int top_run(const struct session *session)
{
	struct top top = { .session = session,
		.interval_ms = option_number(session->options, OPTION_INTERVAL, SECONDS(2)),
		.is_live = session->output.form == OUTPUT_FORM_TEXT && isatty(STDOUT_FILENO) == 1 };
	bool is_once = option_is_given(session->options, OPTION_ONCE);

	shutdown_install();
	top.is_live = top.is_live && !is_once;
	db_set_time_limit(session->db, TIME_LIMIT_S);
	int status = session_connect_to_schema(session);
	if (status == EXIT_STATUS_OK)
		status = count_first(&top);
	if (status != EXIT_STATUS_OK)
		return status;
	return is_once ? show(&top) : watch(&top);
}
