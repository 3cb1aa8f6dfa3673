#include "console/respond.h"

#include <string.h>

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/base/ulid.h"
#include "console/page.h"

enum {
	STATUS_SEE_OTHER = 303
};

const struct httpd_constant respond_constants[] = {
	{ "Content-Security-Policy",
		"default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; "
		"connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'" },
	{ "X-Content-Type-Options", "nosniff" },
	{ "Referrer-Policy", "same-origin" },
	{ "Cache-Control", "no-store" },
	{ "Cross-Origin-Opener-Policy", "same-origin" },
	{ NULL, NULL },
};

struct status_title {
	unsigned int status;
	const char *title;
};

static const struct status_title titles[] = {
	{ 400, PHRASE("Bad request") },
	{ 401, PHRASE("Log in") },
	{ 403, PHRASE("Not allowed") },
	{ 404, PHRASE("Not found") },
	{ 405, PHRASE("Method not allowed") },
	{ 409, PHRASE("Changed meanwhile") },
	{ 413, PHRASE("Too large") },
	{ 422, PHRASE("Refused") },
	{ 429, PHRASE("Too many attempts") },
	{ 500, PHRASE("Failed") },
	{ 503, PHRASE("Not at the moment") },
};

static const char *find_title(unsigned int status)
{
	for (size_t i = 0; i < ARRAY_LENGTH(titles); i++)
		if (titles[i].status == status)
			return titles[i].title;
	return titles[9].title;
}

void respond_text(struct visit *visit, unsigned int status, const char *content_type,
	char *text_adopt, size_t size)
{
	visit->answer->status = status;
	visit->answer->content_type = content_type;
	visit->answer->body_adopt = text_adopt;
	visit->answer->body_size = size;
}

void respond_json(struct visit *visit, unsigned int status, struct json **root_adopt)
{
	char *text = json_write(*root_adopt);

	respond_text(visit, status, "application/json", text, strlen(text));
	json_destroy(root_adopt);
}

static void respond_problem_json(
	struct visit *visit, unsigned int status, const char *english, const char *detail)
{
	struct json *root = json_create_object();
	char id[ULID_SIZE];

	ulid_generate(id);
	json_set_text(root, "type", "about:blank");
	json_set_text(root, "title", find_title(status));
	json_set_int(root, "status", status);
	json_set_text(root, "detail", detail == NULL || detail[0] == '\0' ? english : detail);
	json_set_text(root, "instance", id);
	respond_json(visit, status, &root);
	visit->answer->content_type = "application/problem+json";
}

void respond_problem(
	struct visit *visit, unsigned int status, const char *english, const char *detail)
{
	if (visit->is_api) {
		respond_problem_json(visit, status, english, detail);
		return;
	}
	struct html *html = page_begin(visit, find_title(status));

	html_open(html, "section", "class", "notice bad", "role", "alert", HTML_END);
	html_element(html, "p", NULL, say(visit, english));
	if (detail != NULL && detail[0] != '\0')
		html_element(html, "p", "detail", detail);
	html_close(html, "section");
	page_end(visit, status, &html);
}

void respond_failure(struct visit *visit, enum result result, const struct error *error)
{
	switch (result) {
	case RESULT_OK:
	case RESULT_NONE:
		respond_problem(visit, 404, PHRASE("There is no such row."), error->text);
		return;
	case RESULT_CONFLICT:
		respond_problem(visit, 409, PHRASE("Somebody else was faster."), error->text);
		return;
	case RESULT_TEMPORARY:
		httpd_add_header(visit->answer, "Retry-After", "2");
		respond_problem(visit, 503,
			PHRASE("The servers cannot tell at the moment. Nothing was lost; "
			       "try again."),
			error->text);
		return;
	case RESULT_PERMANENT:
		respond_problem(visit, 400, PHRASE("This cannot be asked for."), error->text);
		return;
	}
}

void respond_redirect(struct visit *visit, const char *path)
{
	char location[HTTPD_HEADER_VALUE_SIZE];

	(void)text_format(location, sizeof(location), "%s%s", visit->context->prefix, path);
	httpd_add_header(visit->answer, "Location", location);
	visit->answer->status = STATUS_SEE_OTHER;
}
