#include <string.h>

#include "common/base/text.h"
#include "console/buffer.h"
#include "console/list.h"

/* Names of the address that are no filters. */
static const char *const page_names[] = { "after", "limit", "audit", "unmask", "format", "csrf",
	"request_id", NULL };

enum result list_read_request(
	const struct visit *visit, struct list_request *request_out, struct error *error)
{
	const char *limit = visit_query(visit, "limit");
	uint64_t number = 0;

	*request_out = (struct list_request){ .request = { .values = NULL } };
	for (size_t i = 0; i < form_count(visit->query); i++) {
		const char *name = form_name_at(visit->query, i);
		const char *value = form_value_at(visit->query, i);

		if (text_is_one_of(page_names, name) || value[0] == '\0')
			continue;
		if (request_out->request.value_count == LIST_VALUE_MAX)
			return error_set(RESULT_PERMANENT, error, "there are too many filters");
		request_out->values[request_out->request.value_count++] =
			(struct listing_value){ name, value };
	}
	if (limit != NULL && limit[0] != '\0' &&
		!text_parse_uint(limit, 1, LISTING_PAGE_MAX, &number))
		return error_set(RESULT_PERMANENT, error, "limit: 1 to %d", LISTING_PAGE_MAX);
	request_out->request.values = request_out->values;
	request_out->request.after = visit_query(visit, "after");
	request_out->request.limit = (uint32_t)number;
	return RESULT_OK;
}

void list_add_address(const char *path, const struct list_request *request, struct buffer *buffer)
{
	buffer_add_text(buffer, path);
	buffer_add_text(buffer, "?");
	for (size_t i = 0; i < request->request.value_count; i++) {
		if (i > 0)
			buffer_add_text(buffer, "&");
		buffer_add_encoded(buffer, request->values[i].name);
		buffer_add_text(buffer, "=");
		buffer_add_encoded(buffer, request->values[i].value);
	}
}
