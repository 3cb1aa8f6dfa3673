/*
 * session - what a command gets: options, settings, output, the connection; and how it ends.
 */
#ifndef CTL_SESSION_H
#define CTL_SESSION_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/result.h"
#include "common/base/settings.h"
#include "common/io/broker.h"
#include "common/io/db.h"
#include "common/order/topology.h"
#include "ctl/alert_target_setting.h"
#include "ctl/option.h"
#include "ctl/output.h"

enum {
	SESSION_ACTOR_SIZE = 128 + 1
};

struct session_settings {
	struct db_settings db;
	struct broker_settings broker; /* url NULL: no broker is known */
	struct topology_settings topology;
	uint64_t sweep_interval_ms;
	uint64_t retention_ms;
	uint64_t lease_ms;
	uint64_t overdue_grace_ms;
	char *stock_url; /* NULL: not set, as the next ones */
	char *refund_url;
	char *fleet;
	struct ctl_alert_targets alert_targets;
	char *env_label;
	int language; /* enum alert_language */
	char *console_url;
	char *runbook_url;
};

extern const struct setting session_settings_table[];

void session_check_settings(
	const struct session_settings *settings, struct settings_report *report);

/* Read-only for a command, but for the connection, which is not open yet. */
struct session {
	const struct option_set *options;
	char *const *operands; /* borrowed from the command line */
	size_t operand_count;
	const struct session_settings *settings;
	struct output output;
	char actor[SESSION_ACTOR_SIZE]; /* who acts, for the audit */
	struct db *db;
};

/* Borrows options and settings; operands are filled in by the caller. */
void session_begin(struct session *session, const struct option_set *options,
	const struct session_settings *settings);
void session_end(struct session *session);

/* Connects, or complains.  EXIT_STATUS_OK when connected. */
int session_connect(const struct session *session);
/* The version of the schema, 0 when it is not there. */
MUST_USE enum result session_read_schema(
	const struct session *session, uint32_t *version_out, struct error *error);
/* session_connect, and the schema must be there and new enough. */
int session_connect_to_schema(const struct session *session);

/* Complains and gives EXIT_STATUS_USAGE. */
int session_refuse_usage(const char *words);
/* Complains and gives the exit status that fits the result and what the server answered. */
int session_fail(const struct session *session, enum result result, const struct error *error);

#endif
