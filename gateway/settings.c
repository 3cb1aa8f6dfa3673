#include "gateway/settings.h"

#include <string.h>

#include "common/base/text.h"
#include "common/io/endpoint.h"
#include "gateway/access.h"
#include "gateway/notice.h"

enum {
	SECRET_MIN = 16
};

const struct setting gateway_settings_table[] = {
	SETTINGS_SHARED(struct gateway_settings, service, service_settings_table),
	SETTINGS_SHARED(struct gateway_settings, mysql, db_settings_table),
	SETTING_TEXT(struct gateway_settings, address, "LAPSE_GATEWAY_ADDR", "127.0.0.1:8081",
		"where to serve"),
	SETTING_TEXT(struct gateway_settings, tokens_file, "LAPSE_API_TOKENS_FILE", NULL,
		"lines name:sha256-of-the-token in hex; without it loopback only"),
	SETTING_UINT(struct gateway_settings, api_rate, "LAPSE_API_RATE", "2000", 1, 1000000,
		"requests a second of one caller; twice as many at once"),
	SETTING_SECRET(struct gateway_settings, notify_secret, "LAPSE_NOTIFY_SECRET", false,
		"key of payment notices; without it they are refused"),
	SETTING_SECRET(struct gateway_settings, notify_secret_old, "LAPSE_NOTIFY_SECRET_OLD", false,
		"the key before, still good while it is being replaced"),
	SETTING_TEXT(struct gateway_settings, merchant_id, "LAPSE_MERCHANT_ID", NULL,
		"what merchant_id of a notice must be, when set"),
	SETTING_END,
};

static bool is_loopback(const char *address)
{
	return text_starts_with(address, "127.") || text_starts_with(address, "[::1]:") ||
	       text_starts_with(address, "localhost:");
}

/* The file is read again when the program begins; here its mistakes are found before that. */
static void check_tokens(const char *tokens_file, struct settings_report *report)
{
	struct access *access = NULL;
	struct error error = { .text = "" };

	if (access_create(tokens_file, 1, &access, &error) != RESULT_OK)
		settings_report_add(report, "%s", error.text);
	access_destroy(&access);
}

static void check_secret(const char *name, const char *secret, struct settings_report *report)
{
	if (secret != NULL && strlen(secret) < SECRET_MIN)
		settings_report_add(report, "%s: is shorter than %d bytes", name, SECRET_MIN);
}

void gateway_check_settings(const void *settings, struct settings_report *report)
{
	const struct gateway_settings *gateway = settings;

	db_check_settings(&gateway->mysql, report);
	if (gateway->address == NULL || !endpoint_is_valid(gateway->address))
		settings_report_add(report, "LAPSE_GATEWAY_ADDR: is not host:port");
	else if (gateway->tokens_file == NULL && !is_loopback(gateway->address))
		settings_report_add(report,
			"LAPSE_GATEWAY_ADDR: %s is not loopback, which needs "
			"LAPSE_API_TOKENS_FILE",
			gateway->address);
	if (gateway->tokens_file != NULL)
		check_tokens(gateway->tokens_file, report);
	if (gateway->merchant_id != NULL && strlen(gateway->merchant_id) >= NOTICE_MERCHANT_SIZE)
		settings_report_add(report, "LAPSE_MERCHANT_ID: is longer than %d bytes",
			NOTICE_MERCHANT_SIZE - 1);
	check_secret("LAPSE_NOTIFY_SECRET", gateway->notify_secret, report);
	check_secret("LAPSE_NOTIFY_SECRET_OLD", gateway->notify_secret_old, report);
}
