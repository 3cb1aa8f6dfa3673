/*
 * settings - what lapse-gateway is told by its environment.
 */
#ifndef GATEWAY_SETTINGS_H
#define GATEWAY_SETTINGS_H

#include "common/base/settings.h"
#include "common/io/db.h"
#include "common/service/service.h"

struct gateway_settings {
	struct service_settings service;
	struct db_settings mysql;
	char *address;
	char *tokens_file; /* NULL: no tokens, loopback only */
	uint64_t api_rate;
	char *notify_secret;
	char *notify_secret_old;
	char *merchant_id;
};

extern const struct setting gateway_settings_table[];

/* Rules between settings; mistakes go into report. */
void gateway_check_settings(const void *settings, struct settings_report *report);

#endif
