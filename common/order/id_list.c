#include "common/order/id_list.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"

static void copy_params(struct db_param *target, const struct db_param *source, size_t count)
{
	if (count > 0)
		memcpy(target, source, count * sizeof(*source));
}

enum result id_list_execute(struct db *db, const struct id_statement *statement,
	uint64_t *changed_out, struct error *error)
{
	size_t size = db_list_size(statement->count);
	size_t before = statement->before_count;
	size_t param_count = before + size + statement->after_count;
	struct db_param *params = memory_allocate_array(param_count, sizeof(*params));

	REQUIRE(statement->count > 0);
	copy_params(params, statement->before, before);
	for (size_t i = 0; i < size; i++)
		params[before + i] =
			db_uint(statement->ids[i < statement->count ? i : statement->count - 1]);
	copy_params(params + before + size, statement->after, statement->after_count);
	enum result result = db_execute(db, db_list_sql(db, statement->head, statement->tail, size),
		params, param_count, changed_out, error);
	free(params);
	return result;
}
