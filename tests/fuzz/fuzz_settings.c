/* settings: an env file of any bytes is read, or every mistake of it is told. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/base/settings.h"
#include "common/io/db.h"
#include "common/io/endpoint.h"
#include "common/service/service.h"
#include "tests/fuzz/fuzz.h"

struct all {
	struct service_settings service;
	struct db_settings db;
	uint64_t batch;
	char *secret;
};

static const struct setting table[] = {
	SETTINGS_SHARED(struct all, service, service_settings_table),
	SETTINGS_SHARED(struct all, db, db_settings_table),
	SETTING_UINT(struct all, batch, "LAPSE_SWEEP_BATCH", "500", 1, 5000, "batch"),
	SETTING_SECRET(struct all, secret, "LAPSE_NOTIFY_SECRET", false, "secret"),
	SETTING_END,
};

/* A file that goes away with the process; the fuzzer is one. */
static const char *write_file(const uint8_t *bytes, size_t size)
{
	static char path[64];
	static int file = -1;

	if (file < 0) {
		char name[] = "/tmp/lapse-fuzz.XXXXXX";

		file = mkstemp(name);
		REQUIRE(file >= 0);
		(void)unlink(name);
		(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	}
	REQUIRE(ftruncate(file, 0) == 0);
	REQUIRE(pwrite(file, bytes, size, 0) == (ssize_t)size);
	return path;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	static char *const nothing[] = { NULL };
	struct all settings = { .batch = 0 };
	struct settings_report *report = settings_report_create();
	struct settings_source *source =
		settings_source_create(nothing, write_file(bytes, size), report);

	settings_read(table, source, &settings, report);
	settings_check_names(source, report);
	db_check_settings(&settings.db, report);
	if (settings.service.ops_addr != NULL)
		(void)endpoint_is_valid(settings.service.ops_addr);
	for (size_t i = 0; i < settings_report_count(report); i++)
		REQUIRE(settings_report_get(report, i)[0] != '\0');
	REQUIRE(settings_report_count(report) > 0 ||
		(settings.batch >= 1 && settings.batch <= 5000 && settings.db.url != NULL));
	settings_clear(table, &settings);
	settings_source_destroy(&source);
	settings_report_destroy(&report);
	return 0;
}
