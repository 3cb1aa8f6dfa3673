/*
 * tasks - compensation tasks as a close writes them, and questions about what became of them.
 */
#ifndef TESTS_SUPPORT_TASKS_H
#define TESTS_SUPPORT_TASKS_H

#include <stdint.h>

struct query;

/* count due restore tasks for orders <prefix>1, <prefix>2, ... with keys restore:<order>:<number>
 * and the SKUs <sku>, or <sku>0, <sku>1, ... in turn when sku_count is above 1. */
struct tasks_plan {
	const char *prefix;
	const char *sku;
	uint32_t count;
	uint32_t sku_count; /* 0 and 1: one */
};
void tasks_insert(struct query *query, const struct tasks_plan *plan);
/* One due restore task for order_no with key restore:<order_no>:1. */
void tasks_insert_one(struct query *query, const char *order_no, const char *sku);

int64_t tasks_count(struct query *query, const char *status);
/* Tasks that a call may still be made for: PENDING or RUNNING. */
int64_t tasks_count_open(struct query *query);

#endif
