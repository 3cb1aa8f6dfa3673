#include "common/io/httpd_routes.h"

#include <string.h>

#include "common/base/memory.h"
#include "common/base/text.h"

enum {
	STATUS_BAD_REQUEST = 400,
	STATUS_NOT_FOUND = 404,
	STATUS_METHOD_NOT_ALLOWED = 405,
	LINE_SIZE = 32
};

void httpd_add_header(struct httpd_answer *answer, const char *name, const char *value)
{
	size_t place = 0;

	while (place < HTTPD_HEADER_MAX && answer->headers[place].name != NULL)
		place++;
	REQUIRE(place < HTTPD_HEADER_MAX);
	answer->headers[place].name = name;
	(void)text_copy(answer->headers[place].value, HTTPD_HEADER_VALUE_SIZE, value);
}

void httpd_refuse(const struct httpd_settings *settings, const struct httpd_request *request,
	unsigned int status, struct httpd_answer *answer)
{
	char line[LINE_SIZE];

	answer->status = status;
	/* As the library answers what it cannot read: no request has come, so no owner words it. */
	if (settings->refuse != NULL && status != STATUS_BAD_REQUEST) {
		settings->refuse(settings->context, request, answer);
		return;
	}
	(void)text_format(line, sizeof(line), "%s\n",
		status == STATUS_NOT_FOUND            ? "not found"
		: status == STATUS_METHOD_NOT_ALLOWED ? "method not allowed"
		: status == STATUS_BAD_REQUEST        ? "read in two ways"
						      : "body too large");
	answer->body_adopt = memory_copy_text(line);
	answer->body_size = strlen(line);
}

/* A star stands for one name in the middle of a path, and for anything at its end. */
static bool is_path_of(const struct httpd_route *route, const char *path)
{
	const char *wanted = route->path;

	for (; *wanted != '\0'; wanted++) {
		if (*wanted == '*' && wanted[1] == '\0')
			return true;
		if (*wanted == '*')
			path += strcspn(path, "/");
		else if (*wanted != *path++)
			return false;
	}
	return *path == '\0';
}

/* HEAD is answered like GET; the library leaves out the body. */
static bool is_method_of(const struct httpd_route *route, const char *method)
{
	return text_equals(route->method, method) ||
	       (text_equals(method, "HEAD") && text_equals(route->method, "GET"));
}

void httpd_route(const struct httpd_settings *settings, const struct httpd_request *request,
	struct httpd_answer *answer)
{
	const struct httpd_route *first = settings->routes;

	while (first->path != NULL && !is_path_of(first, request->path))
		first++;
	if (first->path == NULL) {
		httpd_refuse(settings, request, STATUS_NOT_FOUND, answer);
		return;
	}
	for (const struct httpd_route *route = first; route->path != NULL; route++) {
		if (!text_equals(route->path, first->path) || !is_method_of(route, request->method))
			continue;
		route->handle(settings->context, request, answer);
		return;
	}
	httpd_refuse(settings, request, STATUS_METHOD_NOT_ALLOWED, answer);
	httpd_add_header(answer, "Allow", first->method);
}
