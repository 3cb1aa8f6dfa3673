#include "tests/support/tasks.h"

#include <inttypes.h>

#include "tests/support/query.h"

void tasks_insert(struct query *query, const struct tasks_plan *plan)
{
	uint32_t sku_count = plan->sku_count < 1 ? 1 : plan->sku_count;

	query_run(query,
		"INSERT INTO t_compensation (kind, target, idempotency_key, order_no, payload) "
		"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %" PRIu32
		") SELECT 'STOCK_RESTORE', 'stock', CONCAT('restore:%s', i, ':', i), "
		"CONCAT('%s', i), CONCAT('{\"sku_id\":\"%s', IF(%" PRIu32 " > 1, i %% %" PRIu32
		", ''), '\",\"quantity\":2}') FROM n",
		plan->count, plan->prefix, plan->prefix, plan->sku, sku_count, sku_count);
}

void tasks_insert_one(struct query *query, const char *order_no, const char *sku)
{
	query_run(query,
		"INSERT INTO t_compensation (kind, target, idempotency_key, order_no, payload) "
		"VALUES ('STOCK_RESTORE', 'stock', 'restore:%s:1', '%s', "
		"'{\"sku_id\":\"%s\",\"quantity\":2}')",
		order_no, order_no, sku);
}

int64_t tasks_count(struct query *query, const char *status)
{
	return query_number(
		query, "SELECT COUNT(*) FROM t_compensation WHERE status = '%s'", status);
}

int64_t tasks_count_open(struct query *query)
{
	return query_number(query,
		"SELECT COUNT(*) FROM t_compensation WHERE status IN ('PENDING', 'RUNNING')");
}
