#include "gateway/respond.h"

#include <string.h>

#include "common/base/text.h"
#include "common/base/ulid.h"

enum {
	REQUEST_ID_MAX = 64,
	STATUS_CONFLICT = 409
};

static const char request_id_header[] = "X-Request-Id";

struct status_title {
	unsigned int status;
	const char *title;
};

static const struct status_title titles[] = {
	{ 400, "Bad Request" },
	{ 401, "Unauthorized" },
	{ 403, "Forbidden" },
	{ 404, "Not Found" },
	{ 405, "Method Not Allowed" },
	{ 409, "Conflict" },
	{ 413, "Content Too Large" },
	{ 429, "Too Many Requests" },
	{ 500, "Internal Server Error" },
	{ 503, "Service Unavailable" },
};

void respond_add_request_id(const struct httpd_request *request, struct httpd_answer *answer)
{
	const char *given = httpd_header(request, request_id_header);
	char generated[ULID_SIZE];

	if (given != NULL && text_is_key(given, strlen(given), REQUEST_ID_MAX)) {
		httpd_add_header(answer, request_id_header, given);
		return;
	}
	ulid_generate(generated);
	httpd_add_header(answer, request_id_header, generated);
}

const char *respond_request_id(const struct httpd_answer *answer)
{
	return answer->headers[0].value;
}

void respond_json(struct httpd_answer *answer, unsigned int status, struct json **root_adopt)
{
	answer->status = status;
	answer->content_type = "application/json";
	answer->body_adopt = json_write(*root_adopt);
	answer->body_size = strlen(answer->body_adopt);
	json_destroy(root_adopt);
}

static const char *find_title(unsigned int status)
{
	for (size_t i = 0; i < ARRAY_LENGTH(titles); i++)
		if (titles[i].status == status)
			return titles[i].title;
	return "Error";
}

static struct json *create_problem(const struct httpd_answer *answer, unsigned int status,
	const char *code, const char *detail)
{
	struct json *root = json_create_object();

	json_set_text(root, "type", "about:blank");
	json_set_text(root, "title", find_title(status));
	json_set_int(root, "status", status);
	json_set_text(root, "code", code);
	json_set_text(root, "detail", detail);
	json_set_text(root, "request_id", respond_request_id(answer));
	return root;
}

static void send_problem(struct httpd_answer *answer, unsigned int status, struct json **root_adopt)
{
	respond_json(answer, status, root_adopt);
	answer->content_type = "application/problem+json";
}

void respond_problem(
	struct httpd_answer *answer, unsigned int status, const char *code, const char *detail)
{
	struct json *root = create_problem(answer, status, code, detail);

	send_problem(answer, status, &root);
}

void respond_final(struct httpd_answer *answer, const char *code, const char *order_status)
{
	char detail[64];

	(void)text_format(detail, sizeof(detail), "the order is %s", order_status);
	struct json *root = create_problem(answer, STATUS_CONFLICT, code, detail);
	json_set_text(root, "order_status", order_status);
	send_problem(answer, STATUS_CONFLICT, &root);
}

void respond_try_again(struct httpd_answer *answer, const char *detail)
{
	httpd_add_header(answer, "Retry-After", "1");
	respond_problem(answer, 503, "try_again", detail);
}
