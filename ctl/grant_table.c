#include "ctl/grant_table.h"

#include <string.h>

#include "common/base/compiler.h"
#include "common/base/result.h"
#include "common/base/text.h"

/* Changes of t_order: who closes, who takes money, who moves a deadline. */
#define CLOSE_COLUMNS  "status, close_time, close_reason, close_source, version"
#define PAY_COLUMNS    "pay_time"
#define EXTEND_COLUMNS "expire_time"

/* What each of those who close needs; an alert is raised for an order that cannot be closed. */
static const struct grant closing[] = {
	{ "SELECT, UPDATE (" CLOSE_COLUMNS ")", "t_order" },
	{ "SELECT", "t_order_item" },
	{ "INSERT", "t_outbox_event" },
	{ "INSERT", "t_compensation" },
	{ "SELECT, INSERT, UPDATE", "t_alert" },
	{ NULL, NULL },
};

static const struct grant producer[] = {
	{ "SELECT, UPDATE", "t_outbox_event" },
	{ "SELECT", "t_order" },
	{ "SELECT, INSERT, UPDATE", "t_alert" },
	{ NULL, NULL },
};

/* Housekeeping deletes, and settles payments of orders that never came. */
static const struct grant sweeper[] = {
	{ "SELECT, DELETE", "t_outbox_event" },
	{ "SELECT, DELETE", "t_compensation" },
	{ "SELECT, DELETE", "t_event_consumed" },
	{ "DELETE", "t_alert" },
	{ "SELECT, UPDATE (outcome, refund_state, updated_at)", "t_payment" },
	{ NULL, NULL },
};

static const struct grant retry[] = {
	{ "SELECT, UPDATE", "t_compensation" },
	{ "SELECT, INSERT, UPDATE", "t_alert" },
	{ "SELECT, UPDATE (refund_state)", "t_payment" },
	{ "SELECT", "t_order" },
	{ "SELECT", "t_outbox_event" },
	{ NULL, NULL },
};

/* The time line of an order shows its events and tasks. */
static const struct grant gateway[] = {
	{ "INSERT, UPDATE (" PAY_COLUMNS ")", "t_order" },
	{ "INSERT", "t_order_item" },
	{ "SELECT, INSERT, UPDATE", "t_payment" },
	{ "SELECT", "t_timeout_rule" },
	{ "SELECT", "t_outbox_event" },
	{ "SELECT", "t_compensation" },
	{ NULL, NULL },
};

static const struct grant events[] = {
	{ "SELECT, INSERT", "t_event_consumed" },
	{ "SELECT, INSERT", "t_compensation" },
	{ NULL, NULL },
};

/* Console and command line: they see everything and change what their acts change.  What they have
 * written to the audit they cannot take back. */
static const struct grant operators[] = {
	{ "SELECT", NULL },
	{ "UPDATE (" EXTEND_COLUMNS ")", "t_order" },
	{ "UPDATE", "t_compensation" },
	{ "UPDATE", "t_outbox_event" },
	{ "UPDATE (refund_state, updated_at)", "t_payment" },
	{ "INSERT, UPDATE", "t_timeout_rule" },
	{ "INSERT", "t_operator_audit" },
	{ NULL, NULL },
};

/* An order service that writes its three rows itself, and takes money itself. */
static const struct grant shop[] = {
	{ "SELECT, INSERT, UPDATE (status, version, " PAY_COLUMNS ")", "t_order" },
	{ "SELECT, INSERT", "t_order_item" },
	{ "INSERT", "t_outbox_event" },
	{ NULL, NULL },
};

const struct grant_user grant_users[] = {
	{ "lapse_producer", { producer } },
	{ "lapse_consumer", { closing } },
	{ "lapse_sweeper", { closing, sweeper } },
	{ "lapse_retry", { retry } },
	{ "lapse_gateway", { closing, gateway } },
	{ "lapse_events", { events } },
	{ "lapse_console", { closing, operators } },
	{ "lapse_ctl", { closing, operators } },
	{ "lapse_shop", { shop } },
	{ NULL, { NULL } },
};

const char *const grant_tables[] = { "t_alert", "t_compensation", "t_event_consumed",
	"t_operator_audit", "t_order", "t_order_item", "t_outbox_event", "t_payment",
	"t_schema_version", "t_timeout_rule", NULL };

/* ---- one by one */

struct listing {
	struct grant_right *rights;
	size_t count;
};

static void add_right(struct listing *listing, const char *table, const char *privilege,
	const char *column, size_t column_size)
{
	REQUIRE(listing->count < GRANT_RIGHTS_MAX);
	struct grant_right *right = &listing->rights[listing->count++];

	*right = (struct grant_right){ .table = table };
	(void)text_clip(
		right->privilege, sizeof(right->privilege), privilege, strcspn(privilege, " ,"));
	(void)text_clip(right->column, sizeof(right->column), column, column_size);
}

/* "SELECT, UPDATE (status, version)" into SELECT, UPDATE of status, UPDATE of version. */
static void add_rights(struct listing *listing, const char *table, const char *privileges)
{
	const char *privilege = privileges;
	const char *next = privileges;

	while (*next != '\0') {
		next += strcspn(next, " ,");
		bool has_columns = text_starts_with(next, " (");

		if (!has_columns)
			add_right(listing, table, privilege, "", 0);
		while (has_columns) {
			next += strspn(next, " (,");
			size_t size = strcspn(next, ",)");

			add_right(listing, table, privilege, next, size);
			next += size;
			has_columns = *next == ',';
		}
		next += strspn(next, "), ");
		privilege = next;
	}
}

static void add_list(struct listing *listing, const struct grant *grant)
{
	for (; grant != NULL && grant->privileges != NULL; grant++) {
		if (grant->table != NULL)
			add_rights(listing, grant->table, grant->privileges);
		for (size_t i = 0; grant->table == NULL && grant_tables[i] != NULL; i++)
			add_rights(listing, grant_tables[i], grant->privileges);
	}
}

size_t grant_table_list(
	const struct grant_user *user, struct grant_right rights_out[GRANT_RIGHTS_MAX])
{
	struct listing listing = { .rights = rights_out };

	add_rights(&listing, "t_schema_version", "SELECT");
	for (size_t i = 0; i < ARRAY_LENGTH(user->lists); i++)
		add_list(&listing, user->lists[i]);
	return listing.count;
}
