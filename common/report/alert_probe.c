#include "common/report/alert_probe.h"

#include <string.h>

#include "common/base/clock.h"
#include "common/base/text.h"
#include "common/io/http.h"
#include "common/report/alert_message.h"

enum {
	WAIT_MS = 1000
};

static void take_answer(const struct alert_target *target, const struct http_answer *answer,
	struct alert_probe *probe)
{
	alert_answer_judge(target, answer, &probe->verdict);
	probe->status = answer->status;
	probe->duration_ms = answer->duration_ms;
	(void)text_clip(probe->body, sizeof(probe->body), answer->body, answer->body_size);
	alert_target_hide(target, probe->body);
}

void alert_probe_send(const struct alert_target *target, const struct alert_origin *origin,
	struct alert_probe *probe)
{
	struct alert_row row;
	const struct alert_row *const rows[] = { &row };
	const struct alert_news news = {
		.rows = rows, .count = 1, .origin = origin, .is_test = true
	};
	struct alert_message *message = NULL;
	struct http *http = NULL;
	struct http_answer answer;

	memset(probe, 0, sizeof(*probe));
	alert_news_make_test(origin->language, clock_epoch_ms(), &row);
	alert_message_create(target, &news, clock_epoch_ms(), &message);
	const char *body = alert_message_body(message);
	http_create(1, ALERT_TIME_LIMIT_MS, &http);
	http_start(http, &(struct http_request){ .url = alert_message_url(message),
				 .headers = alert_message_headers(message),
				 .body = body,
				 .body_size = strlen(body),
				 .time_limit_ms = ALERT_TIME_LIMIT_MS });
	while (!http_take_answer(http, &answer))
		http_work(http, WAIT_MS);
	take_answer(target, &answer, probe);
	http_destroy(&http);
	alert_message_destroy(&message);
}
