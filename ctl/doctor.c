#include "ctl/doctor.h"

#include "common/base/text.h"
#include "common/io/db.h"
#include "common/io/http.h"
#include "ctl/doctor_broker.h"
#include "ctl/doctor_mysql.h"
#include "ctl/finding.h"
#include "ctl/session.h"

enum {
	TIME_LIMIT_MS = 3000,
	TURN_MS = 100,
};

/* Any answer will do: it is there.  A restore is not tried, since it would change stock. */
static void check_stock(const struct session *session, struct finding_list *list)
{
	const char *url = session->settings->stock_url;
	const struct http_request request = { .url = url, .time_limit_ms = TIME_LIMIT_MS };
	struct http_answer answer = { .failure = HTTP_FAILURE_TIME };
	struct http *http = NULL;

	if (url == NULL) {
		finding_warn(list, "stock",
			"LAPSE_STOCK_URL is not set: lapse-retry cannot give stock back");
		return;
	}
	if (!http_is_url(url)) {
		finding_fail(
			list, "stock", "LAPSE_STOCK_URL is not http:// or https:// with a host");
		return;
	}
	http_create(1, TIME_LIMIT_MS, &http);
	http_start(http, &request);
	bool is_answered = false;
	for (int turn = 0; !is_answered && turn < 2 * TIME_LIMIT_MS / TURN_MS; turn++) {
		http_work(http, TURN_MS);
		is_answered = http_take_answer(http, &answer);
	}
	if (is_answered && answer.failure == HTTP_FAILURE_NONE)
		finding_ok(list, "stock", "the product service answers (HTTP %ld)", answer.status);
	else
		finding_fail(list, "stock",
			"the product service does not answer: %s; check LAPSE_STOCK_URL, "
			"tasks wait until it does",
			is_answered ? answer.error : "time is up");
	http_destroy(&http);
}

int doctor_run(const struct session *session)
{
	struct finding_list *list = finding_list_create();
	int status;

	doctor_check_mysql(session, list);
	doctor_check_broker(session, list);
	check_stock(session, list);
	finding_list_print(list, &session->output);
	status = finding_list_has_failed(list) ? EXIT_STATUS_FAILED : EXIT_STATUS_OK;
	finding_list_destroy(&list);
	return status;
}
