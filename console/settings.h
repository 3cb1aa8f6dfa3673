/*
 * settings - what lapse-console is told by its environment.
 */
#ifndef CONSOLE_SETTINGS_H
#define CONSOLE_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/settings.h"
#include "common/io/broker_settings.h"
#include "common/io/db.h"
#include "common/order/topology.h"
#include "common/service/service.h"

struct console_settings {
	struct service_settings service;
	struct db_settings mysql;
	struct broker_settings amqp;
	struct topology_settings topology;
	char *address;
	char *prefix; /* "/" or "/lapse" */
	char *url;    /* for links that leave the page; NULL: none */
	char *users_file;
	char *tokens_file;
	char *secret;
	char *origins;
	char *trusted_proxies;
	int read_only; /* enum switch_word */
	uint64_t bulk_max;
	char *fleet;
	int language; /* enum language */
	char *environment;
	char *runbook_url;
	char *amqp_metrics_url;
	uint64_t overdue_grace_ms;
	uint64_t sweep_interval_ms;
	uint64_t lease_ms;
	uint64_t retention_ms;
	int thresholds; /* enum thresholds_mode */
	bool is_open;   /* --insecure-no-auth */
};

extern const struct setting console_settings_table[];

/* Rules between settings; mistakes go into report. */
void console_check_settings(const void *settings, struct settings_report *report);
/* --insecure-no-auth */
bool console_take_argument(void *settings, const char *argument);
extern const char console_usage[];

#endif
