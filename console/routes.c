#include "console/routes.h"

#include <stddef.h>

#include "console/about_page.h"
#include "console/alert_page.h"
#include "console/bulk_page.h"
#include "console/export.h"
#include "console/fleet_page.h"
#include "console/list.h"
#include "console/order_page.h"
#include "console/outbox_page.h"
#include "console/overview_page.h"
#include "console/parked_page.h"
#include "console/queues_page.h"
#include "console/record_page.h"
#include "console/rule_page.h"
#include "console/statics.h"
#include "console/task_page.h"

/* A list, its export, and the page of one row. */
#define LIST(path, name, role)                                                      \
	{ "GET", path, path, ROLE_VIEWER, list_show },                              \
		{ "GET", path "/export", path "/export", role, export_send },       \
	{                                                                           \
		"GET", path "/*", path "/{" name "}", ROLE_VIEWER, record_page_show \
	}

/* The role of a POST is judged by the act itself, which writes a refusal down. */
const struct route routes[] = {
	{ "GET", "/", "/", ROLE_VIEWER, overview_page_show },
	{ "GET", "/console.css", "/console.css", ROLE_VIEWER, statics_send },
	{ "GET", "/console.js", "/console.js", ROLE_VIEWER, statics_send },
	{ "GET", "/console.svg", "/console.svg", ROLE_VIEWER, statics_send },

	{ "GET", "/tasks/requeue", "/tasks/requeue", ROLE_OPERATOR,
		task_page_ask_requeue_selected },
	{ "POST", "/tasks/requeue", "/tasks/requeue", ROLE_VIEWER, task_page_requeue_selected },
	{ "GET", "/tasks/bulk", "/tasks/bulk", ROLE_OPERATOR, bulk_page_preview },
	{ "POST", "/tasks/bulk", "/tasks/bulk", ROLE_OPERATOR, bulk_page_start },
	{ "GET", "/bulk/*", "/bulk/{id}", ROLE_VIEWER, bulk_page_show },
	{ "POST", "/bulk/*/stop", "/bulk/{id}/stop", ROLE_OPERATOR, bulk_page_stop },
	{ "GET", "/tasks/*/requeue", "/tasks/{id}/requeue", ROLE_OPERATOR, task_page_ask_requeue },
	{ "POST", "/tasks/*/requeue", "/tasks/{id}/requeue", ROLE_VIEWER, task_page_requeue },
	{ "GET", "/tasks/*/resolve", "/tasks/{id}/resolve", ROLE_OPERATOR, task_page_ask_resolve },
	{ "POST", "/tasks/*/resolve", "/tasks/{id}/resolve", ROLE_VIEWER, task_page_resolve },
	LIST("/tasks", "id", ROLE_VIEWER),

	{ "GET", "/orders/*/close", "/orders/{order_no}/close", ROLE_OPERATOR,
		order_page_ask_close },
	{ "POST", "/orders/*/close", "/orders/{order_no}/close", ROLE_VIEWER, order_page_close },
	{ "GET", "/orders/*/extend", "/orders/{order_no}/extend", ROLE_OPERATOR,
		order_page_ask_extend },
	{ "POST", "/orders/*/extend", "/orders/{order_no}/extend", ROLE_VIEWER, order_page_extend },
	LIST("/orders", "order_no", ROLE_VIEWER),

	{ "GET", "/outbox/replay", "/outbox/replay", ROLE_OPERATOR, outbox_page_ask_replay },
	{ "POST", "/outbox/replay", "/outbox/replay", ROLE_VIEWER, outbox_page_replay },
	LIST("/outbox", "id", ROLE_VIEWER),
	LIST("/payments", "id", ROLE_VIEWER),

	{ "GET", "/parked", "/parked", ROLE_VIEWER, parked_page_show },
	{ "GET", "/parked/*", "/parked/{sha256}", ROLE_VIEWER, parked_page_show_one },
	{ "POST", "/parked/*/replay", "/parked/{sha256}/replay", ROLE_VIEWER, parked_page_replay },
	{ "POST", "/parked/*/discard", "/parked/{sha256}/discard", ROLE_VIEWER,
		parked_page_discard },
	{ "GET", "/queues", "/queues", ROLE_VIEWER, queues_page_show },

	{ "GET", "/rules/add", "/rules/add", ROLE_ADMIN, rule_page_ask_add },
	{ "POST", "/rules/add", "/rules/add", ROLE_VIEWER, rule_page_add },
	{ "GET", "/rules/test", "/rules/test", ROLE_VIEWER, rule_page_test },
	{ "GET", "/rules/*/end", "/rules/{id}/end", ROLE_ADMIN, rule_page_ask_end },
	{ "POST", "/rules/*/end", "/rules/{id}/end", ROLE_VIEWER, rule_page_end },
	LIST("/rules", "id", ROLE_VIEWER),

	{ "POST", "/alerts/test", "/alerts/test", ROLE_VIEWER, alert_page_test },
	{ "GET", "/alerts/*/silence", "/alerts/{id}/silence", ROLE_OPERATOR,
		alert_page_ask_silence },
	{ "POST", "/alerts/*/silence", "/alerts/{id}/silence", ROLE_VIEWER, alert_page_silence },
	{ "POST", "/alerts/*/resend", "/alerts/{id}/resend", ROLE_VIEWER, alert_page_resend },
	LIST("/alerts", "id", ROLE_VIEWER),

	{ "GET", "/fleet", "/fleet", ROLE_VIEWER, fleet_page_show },
	LIST("/audit", "id", ROLE_OPERATOR),
	{ "GET", "/about", "/about", ROLE_VIEWER, about_page_show },
	{ NULL, NULL, NULL, ROLE_ADMIN, NULL },
};
