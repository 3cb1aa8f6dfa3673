#include "tests/support/claims.h"

#include <inttypes.h>
#include <stdlib.h>

#include <check.h>

#include "common/base/memory.h"
#include "common/io/db.h"
#include "tests/support/query.h"

enum {
	LEASE_MS = 30000,
	LOCK_WAIT_MS = 1000
};

void claims_insert(struct query *query, const char *kind, const char *target, uint32_t count)
{
	for (uint32_t i = 1; i <= count; i++)
		query_run(query,
			"INSERT INTO t_compensation (kind, target, idempotency_key, order_no, "
			"payload, next_retry_at) VALUES ('%s', '%s', CONCAT('%s:', UUID()), "
			"'A%" PRIu32 "', '{\"sku_id\":\"SKU-1\",\"quantity\":2}', "
			"UTC_TIMESTAMP(3) - INTERVAL %" PRIu32 " SECOND)",
			kind, target, kind, i, i);
}

struct compensation_list *claims_take(struct db *db, const char *target, uint32_t limit)
{
	const struct compensation_wish wish = { .target = target, .limit = limit };
	const struct compensation_claim_limits limits = { .wishes = &wish,
		.wish_count = 1,
		.retry_max = COMPENSATION_RETRY_MAX,
		.lease_ms = LEASE_MS };
	struct compensation_list *list = NULL;
	struct error error = { 0 };
	enum result result = compensation_claim(db, &limits, &list, &error);

	ck_assert_msg(result == RESULT_OK || result == RESULT_NONE, "%s", error.text);
	ck_assert_int_eq(result == RESULT_NONE, list == NULL);
	return list;
}

void claims_settle(struct db *db, struct compensation_list *list)
{
	struct compensation_task **tasks =
		memory_allocate_array(list->count, sizeof(struct compensation_task *));
	struct error error = { 0 };

	for (size_t i = 0; i < list->count; i++)
		tasks[i] = &list->tasks[i];
	ck_assert_msg(
		compensation_settle(db, tasks, list->count, &error) == RESULT_OK, "%s", error.text);
	free(tasks);
}

void claims_settle_all(
	struct db *db, struct compensation_list *list, enum compensation_verdict verdict)
{
	for (size_t i = 0; i < list->count; i++) {
		list->tasks[i].verdict = verdict;
		if (verdict != COMPENSATION_VERDICT_DONE)
			compensation_set_error(&list->tasks[i], "HTTP 503");
	}
	claims_settle(db, list);
}

void claims_connect(const char *url, struct claims_db *connection_out)
{
	struct error error = { 0 };

	connection_out->settings = memory_allocate(sizeof(*connection_out->settings));
	connection_out->settings->url = memory_copy_text(url);
	connection_out->settings->lock_wait_ms = LOCK_WAIT_MS;
	db_create(connection_out->settings, &connection_out->db);
	ck_assert_msg(
		db_ensure_connected(connection_out->db, &error) == RESULT_OK, "%s", error.text);
}

void claims_disconnect(struct claims_db *connection)
{
	db_destroy(&connection->db);
	free(connection->settings->url);
	free(connection->settings);
	connection->settings = NULL;
}
