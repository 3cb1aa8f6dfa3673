#include <stddef.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/base/text.h"
#include "console/acts.h"
#include "console/alert_page.h"
#include "console/bulk_page.h"
#include "console/list.h"
#include "console/rule_page.h"

static const struct list_view views[] = {
	{ .kind = "tasks",
		.path = "/tasks",
		.title = PHRASE("Tasks"),
		.key_column = "id",
		.ticks_path = "/tasks/requeue",
		.ticks_button = PHRASE("Requeue selected…"),
		.ticks_column = "retry_count",
		.clear = PHRASE("All clear: no task is DEAD, and none waits after a failure."),
		.write_acts = bulk_page_write_link },
	{ .kind = "orders",
		.path = "/orders",
		.title = PHRASE("Orders"),
		.clear = PHRASE("There are no orders.") },
	{ .kind = "outbox",
		.path = "/outbox",
		.title = PHRASE("Outbox"),
		.key_column = "id",
		.ticks_path = "/outbox/replay",
		.ticks_button = PHRASE("Replay selected…"),
		.clear = PHRASE("All clear: nothing waits in the outbox.") },
	{ .kind = "payments",
		.path = "/payments",
		.title = PHRASE("Payments"),
		.key_column = "id",
		.clear = PHRASE("All clear: no payment needs a refund.") },
	{ .kind = "rules",
		.path = "/rules",
		.title = PHRASE("Timeout rules"),
		.key_column = "id",
		.clear = PHRASE("There are no timeout rules: every order brings its own deadline."),
		.write_acts = rule_page_write_acts },
	{ .kind = "alerts",
		.path = "/alerts",
		.title = PHRASE("Alerts"),
		.key_column = "id",
		.clear = PHRASE("All clear: no alert is firing."),
		.write_acts = alert_page_write_acts },
	{ .kind = "audit",
		.path = "/audit",
		.title = PHRASE("Audit"),
		.key_column = "id",
		.clear = PHRASE("Nothing has been done by hand.") },
};

const struct list_view *list_find(const struct visit *visit)
{
	for (size_t i = 0; i < ARRAY_LENGTH(views); i++) {
		size_t size = strlen(views[i].path);

		if (text_starts_with(visit->path, views[i].path) &&
			(visit->path[size] == '\0' || visit->path[size] == '/'))
			return &views[i];
	}
	REQUIRE(false); /* only the routes of these lists lead here */
	return NULL;
}
