/*
 * id_list - one statement for a list of ids: head, "(?,?,...)", tail, with the values of each part.
 */
#ifndef COMMON_ORDER_ID_LIST_H
#define COMMON_ORDER_ID_LIST_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/result.h"
#include "common/io/db.h"

struct id_statement {
	const char *head; /* a constant, as tail */
	const char *tail;
	const struct db_param *before; /* values in head */
	size_t before_count;
	const uint64_t *ids;
	size_t count;                 /* 1 to DB_LIST_MAX */
	const struct db_param *after; /* values in tail */
	size_t after_count;
};

/* changed_out may be NULL. */
MUST_USE enum result id_list_execute(struct db *db, const struct id_statement *statement,
	uint64_t *changed_out, struct error *error);

#endif
