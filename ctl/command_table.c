#include "ctl/command_table.h"

#include "common/base/compiler.h"
#include "ctl/alert.h"
#include "ctl/alert_test.h"
#include "ctl/completion.h"
#include "ctl/doctor.h"
#include "ctl/hash_password.h"
#include "ctl/list.h"
#include "ctl/migrate.h"
#include "ctl/order.h"
#include "ctl/parked.h"
#include "ctl/replay.h"
#include "ctl/requeue.h"
#include "ctl/rule.h"
#include "ctl/rule_test.h"
#include "ctl/show.h"
#include "ctl/status.h"
#include "ctl/top.h"
#include "ctl/verify.h"

#define ACT_OPTIONS                                                                   \
	((LIST_TASK_OPTIONS & ~OPTION_BIT(OPTION_PLACE)) | OPTION_BIT(OPTION_AFTER) | \
		OPTION_BIT(OPTION_CONFIRM_COUNT))

#define RESOLVE_OPTIONS  (OPTION_BIT(OPTION_REASON) | OPTION_BIT(OPTION_CONFIRM))
#define CANCEL_OPTIONS   (OPTION_BIT(OPTION_WHY) | OPTION_BIT(OPTION_CONFIRM))
#define EXTEND_OPTIONS   (OPTION_BIT(OPTION_UNTIL) | OPTION_BIT(OPTION_BY) | OPTION_BIT(OPTION_WHY))
#define RULE_END_OPTIONS (OPTION_BIT(OPTION_UNTIL) | OPTION_BIT(OPTION_WHY))
#define RULE_OPTIONS                                                                            \
	(OPTION_BIT(OPTION_TENANT) | OPTION_BIT(OPTION_CHANNEL) | OPTION_BIT(OPTION_ACTIVITY) | \
		OPTION_BIT(OPTION_CATEGORY) | OPTION_BIT(OPTION_TIMEOUT))

const struct command commands[] = {
	{ "migrate", NULL, "apply the numbered migrations of the schema, each once",
		OPTION_BIT(OPTION_SHOW_STATUS), migrate_run },
	{ "status", NULL, "show the overview on one screen", OPTION_BIT(OPTION_CHECK), status_run },
	{ "top", NULL, "show rates, backlog, lateness and what is stuck, again and again",
		OPTION_BIT(OPTION_ONCE) | OPTION_BIT(OPTION_INTERVAL), top_run },
	{ "list tasks", NULL, "list compensation tasks, by default those in trouble",
		LIST_TASK_OPTIONS, list_tasks_run },
	{ "list orders", NULL, "list orders, by default the newest", LIST_ORDER_OPTIONS,
		list_orders_run },
	{ "list outbox", NULL, "list outbox rows, by default those that wait or have failed",
		LIST_OUTBOX_OPTIONS, list_outbox_run },
	{ "list payments", NULL, "list payments, by default the newest", LIST_PAYMENT_OPTIONS,
		list_payments_run },
	{ "list parked", NULL, "list the messages of the parked queue, which costs them nothing",
		OPTION_BIT(OPTION_LIMIT), parked_list_run },
	{ "list rules", NULL, "list the timeout rules, best first", OPTION_BIT(OPTION_ALL),
		rule_list_run },
	{ "list alerts", NULL, "list alerts, by default those that fire", LIST_ALERT_OPTIONS,
		list_alerts_run },
	{ "list audit", NULL, "list what was done by hand, newest first", LIST_AUDIT_OPTIONS,
		list_audit_run },
	{ "show task", "ID", "show one task with its order and its audit", 0, show_task_run },
	{ "show order", "ORDER_NO", "show one order with all that happened to it", 0,
		show_order_run },
	{ "show outbox", "ID", "show one outbox row with its order", 0, show_outbox_run },
	{ "show payment", "ID", "show one payment, by id or CHANNEL:TRADE_NO", 0,
		show_payment_run },
	{ "show rule", "ID", "show one timeout rule with its audit", 0, show_rule_run },
	{ "show alert", "ID", "show one alert with its delivery and its audit", 0, show_alert_run },
	{ "show audit", "ID", "show one act by hand with what was before and after", 0,
		show_audit_run },
	{ "requeue", "[ID]...", "give DEAD tasks five more retries, by id or by filter",
		ACT_OPTIONS, requeue_run },
	{ "resolve", "ID...", "mark DEAD tasks as resolved, with the reason", RESOLVE_OPTIONS,
		requeue_resolve_run },
	{ "cancel", "ORDER_NO", "close one unpaid order by hand", CANCEL_OPTIONS,
		order_cancel_run },
	{ "extend", "ORDER_NO", "move the deadline of an unpaid order later", EXTEND_OPTIONS,
		order_extend_run },
	{ "replay outbox", "ID...", "have outbox rows published again, each with its event id",
		OPTION_BIT(OPTION_WHY), replay_outbox_run },
	{ "replay parked", "SHA256...", "publish parked messages again to where they came from", 0,
		parked_replay_run },
	{ "discard parked", "SHA256...", "throw parked messages away; the audit keeps the text",
		OPTION_BIT(OPTION_WHY), parked_discard_run },
	{ "rule list", NULL, "the same as list rules", OPTION_BIT(OPTION_ALL), rule_list_run },
	{ "rule add", NULL, "add a timeout rule for new orders",
		RULE_OPTIONS | OPTION_BIT(OPTION_PRIORITY) | OPTION_BIT(OPTION_FROM) |
			OPTION_BIT(OPTION_UNTIL) | OPTION_BIT(OPTION_WHY),
		rule_add_run },
	{ "rule end", "ID", "end a timeout rule, now or later", RULE_END_OPTIONS, rule_end_run },
	{ "rule expire", "ID", "the same as rule end", RULE_END_OPTIONS, rule_end_run },
	{ "rule test", NULL, "show the rule an order would get, and what another one would change",
		RULE_OPTIONS | OPTION_BIT(OPTION_SINCE), rule_test_run },
	{ "alert silence", "ID...", "keep alerts quiet for a while",
		OPTION_BIT(OPTION_FOR) | OPTION_BIT(OPTION_WHY), alert_silence_run },
	{ "alert resend", "ID...", "deliver alerts to their targets once more", 0,
		alert_resend_run },
	{ "alert test", NULL, "send one message marked TEST and show the answer",
		OPTION_BIT(OPTION_ALERT_TARGET), alert_test_run },
	{ "verify", NULL, "check the promises by SQL, one line per check",
		OPTION_BIT(OPTION_SINCE) | OPTION_BIT(OPTION_OVERDUE_GRACE), verify_run },
	{ "doctor", NULL, "look at everything Lapse needs and say what to do", 0, doctor_run },
	{ "hash-password", NULL, "read a password, print a line for the console's users file",
		OPTION_BIT(OPTION_USER) | OPTION_BIT(OPTION_ROLE), hash_password_run },
	{ "completion", "SHELL", "print the completion of the command line for bash or zsh", 0,
		completion_run },
	{ "retry list", NULL, "the same as list tasks", LIST_TASK_OPTIONS, list_tasks_run },
	{ "retry show", "ID", "the same as show task", 0, show_task_run },
	{ "retry requeue", "[ID]...", "the same as requeue", ACT_OPTIONS, requeue_run },
	{ "retry resolve", "ID...", "the same as resolve", RESOLVE_OPTIONS, requeue_resolve_run },
	{ "order cancel", "ORDER_NO", "the same as cancel", CANCEL_OPTIONS, order_cancel_run },
	{ "order extend", "ORDER_NO", "the same as extend", EXTEND_OPTIONS, order_extend_run },
};

const size_t command_count = ARRAY_LENGTH(commands);

bool command_is_offline(const struct command *command)
{
	return command->run == hash_password_run || command->run == completion_run;
}
