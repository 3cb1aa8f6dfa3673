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
#include "ctl/queues.h"
#include "ctl/session.h"
#include "ctl/status.h"

enum {
	TIME_LIMIT_S = 60,
	WAIT_SLICE_MS = 100,
	RATE_SIZE = 32,
	REST_SHARE = 4, /* a view that took long is followed by a wait so much longer */
};

/* The rates of a view: what is counted up in the tables, and behind them the closes of the last
 * seconds, read by an index and bounded.  Ids count up with the rows, gaps included, which is near
 * enough. */
static const char *const counters[] = { "orders_made_per_s", "events_written_per_s",
	"tasks_written_per_s", "payments_per_s" };
static const char counts_sql[] = "SELECT COALESCE((SELECT MAX(id) FROM t_order), 0), "
				 "COALESCE((SELECT MAX(id) FROM t_outbox_event), 0), "
				 "COALESCE((SELECT MAX(id) FROM t_compensation), 0), "
				 "COALESCE((SELECT MAX(id) FROM t_payment), 0), "
				 "(SELECT COUNT(*) FROM (SELECT 1 FROM t_order WHERE close_time > "
				 "UTC_TIMESTAMP(3) - INTERVAL 10 SECOND LIMIT 1000000) c)";
enum {
	COLUMN_CLOSES = ARRAY_LENGTH(counters),
	CLOSES_S = 10,
};

struct top {
	struct status_view view;
	uint64_t interval_ms;
	bool is_live; /* each view takes the place of the one before */
	uint64_t counts[ARRAY_LENGTH(counters)];
	uint64_t counted_at_ms; /* 0: not yet */
};

/* One digit behind the point while it is small. */
static void add_rate(struct figure_list *list, const char *name, uint64_t count, uint64_t over_ms)
{
	uint64_t tenths = over_ms == 0 ? 0 : count * 10000 / over_ms;
	char rate[RATE_SIZE];

	(void)text_format(rate, sizeof(rate), "%" PRIu64 ".%" PRIu64, tenths / 10, tenths % 10);
	figure_add_text(list, name, rate, FIGURE_LEVEL_GREEN);
}

static enum result add_rates(struct top *top, struct figure_list *list, struct error *error)
{
	struct db_rows *rows = NULL;
	enum result result = db_query(top->view.session->db, counts_sql, NULL, 0, &rows, error);
	uint64_t now_ms = clock_now_ms();

	if (result != RESULT_OK || !db_rows_next(rows))
		return result;
	add_rate(list, "closes_per_s", db_rows_uint(rows, COLUMN_CLOSES), SECONDS(CLOSES_S));
	for (size_t i = 0; i < ARRAY_LENGTH(counters); i++) {
		uint64_t count = db_rows_uint(rows, i);

		if (top->counted_at_ms != 0)
			add_rate(list, counters[i],
				count > top->counts[i] ? count - top->counts[i] : 0,
				now_ms - top->counted_at_ms);
		top->counts[i] = count;
	}
	top->counted_at_ms = now_ms;
	db_rows_destroy(&rows);
	return RESULT_OK;
}

static void wait_for(const struct top *top, uint64_t wait_ms)
{
	for (uint64_t end_ms = clock_now_ms() + wait_ms;
		!shutdown_is_requested() && clock_now_ms() < end_ms;) {
		queues_keep_alive(top->view.queues);
		clock_wait_ms(WAIT_SLICE_MS);
	}
}

static int show(struct top *top)
{
	struct figure_list *list = figure_list_create();
	struct error error = { .text = "" };
	enum result result = add_rates(top, list, &error);
	int status = result == RESULT_OK ? status_fill(&top->view, list)
					 : session_fail(top->view.session, result, &error);

	/* Home, and nothing of the view before is left. */
	if (top->is_live)
		(void)printf("\033[H\033[2J");
	if (status == EXIT_STATUS_OK)
		figure_list_print(list, &top->view.session->output);
	if (!top->is_live && top->view.session->output.form == OUTPUT_FORM_TEXT)
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
	enum result result = add_rates(top, list, &error);

	figure_list_destroy(&list);
	if (result != RESULT_OK)
		return session_fail(top->view.session, result, &error);
	wait_for(top, top->interval_ms < SECONDS(1) ? top->interval_ms : SECONDS(1));
	return EXIT_STATUS_OK;
}

/* A server that goes away is waited for: the view is needed most then. */
static int watch(struct top *top)
{
	int status = EXIT_STATUS_OK;

	while (!shutdown_is_requested()) {
		uint64_t rest_ms = 0;

		status = db_is_connected(top->view.session->db)
				 ? EXIT_STATUS_OK
				 : session_connect_to_schema(top->view.session);
		if (status == EXIT_STATUS_OK) {
			rest_ms = clock_now_ms();
			status = show(top);
			rest_ms = (clock_now_ms() - rest_ms) * REST_SHARE;
		}
		if (status == EXIT_STATUS_NO_PERMISSION || ferror(stdout) != 0)
			return status;
		wait_for(top, rest_ms > top->interval_ms ? rest_ms : top->interval_ms);
	}
	return EXIT_STATUS_OK;
}

int top_run(const struct session *session)
{
	struct top top = { .interval_ms =
				   option_number(session->options, OPTION_INTERVAL, SECONDS(2)),
		.is_live = session->output.form == OUTPUT_FORM_TEXT && isatty(STDOUT_FILENO) == 1 };
	bool is_once = option_is_given(session->options, OPTION_ONCE);

	shutdown_install();
	top.is_live = top.is_live && !is_once;
	db_set_time_limit(session->db, TIME_LIMIT_S);
	status_open(session, &top.view);
	int status = session_connect_to_schema(session);
	if (status == EXIT_STATUS_OK)
		status = count_first(&top);
	if (status == EXIT_STATUS_OK)
		status = is_once ? show(&top) : watch(&top);
	status_close(&top.view);
	return status;
}
