#include "tests/support/direct_db.h"

#include <string.h>

#include <check.h>

#include "common/base/text.h"
#include "common/order/invariant.h"
#include "tests/support/address.h"
#include "tests/support/proxy.h"
#include "tests/support/sandbox.h"
#include "tests/support/wait_until.h"

#define LOCK_WAIT_MS UINT64_C(1000)
#define YEARS_MS     UINT64_C(315360000000)

static bool is_connected(void *context)
{
	const struct direct_db *direct = context;
	struct error error = { .text = "" };

	return db_ensure_connected(direct->db, &error) == RESULT_OK;
}

void direct_db_reconnect(struct direct_db *direct)
{
	WAIT_UNTIL(is_connected, direct);
}

void direct_db_open(struct direct_db *direct, const struct sandbox *sandbox,
	const struct proxy *proxy, const char *options)
{
	struct address address;

	address_parse(sandbox_mysql_url(sandbox), "mysql", &address);
	ck_assert(text_format(direct->url, sizeof(direct->url),
		"mysql://%s:%s@%s:%u/%s?tls=off%s%s", address.user, address.password, address.host,
		proxy == NULL ? address.port : proxy_port(proxy), address.path,
		options == NULL ? "" : "&", options == NULL ? "" : options));
	direct->settings = (struct db_settings){ direct->url, LOCK_WAIT_MS };
	db_create(&direct->settings, &direct->db);
	direct_db_reconnect(direct);
}

void direct_db_close(struct direct_db *direct)
{
	db_destroy(&direct->db);
}

void direct_db_expect_sound(struct direct_db *direct)
{
	static const struct invariant_limits limits = { .since_ms = YEARS_MS,
		.retention_ms = YEARS_MS,
		.overdue_ms = YEARS_MS,
		.stale_ms = YEARS_MS };
	struct invariant_report report = { .rows = 0 };
	struct error error = { .text = "" };

	direct_db_reconnect(direct);
	enum result result = invariant_verify(direct->db, &limits, NULL, &report, &error);
	ck_assert_msg(result == RESULT_OK, "verify: %s", error.text);
	for (size_t i = 0; i < INVARIANT_COUNT; i++)
		ck_assert_msg(report.findings[i].count == 0, "%s: %s %s", invariant_infos[i].name,
			report.findings[i].examples[0].ref, report.findings[i].examples[0].detail);
}
