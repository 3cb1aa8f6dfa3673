#include "console/visit.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "common/base/clock.h"
#include "common/base/text.h"
#include "common/order/act.h"
#include "console/access.h"
#include "console/counts.h"
#include "console/csrf.h"
#include "console/ledger.h"
#include "console/respond.h"
#include "console/routes.h"
#include "console/settings.h"

static const char api_path[] = "/api/v1";

const char *say(const struct visit *visit, const char *english)
{
	return phrase_in(visit->context->language, english);
}

const char *visit_query(const struct visit *visit, const char *name)
{
	return form_get(visit->query, name);
}

bool visit_may(const struct visit *visit, enum role role)
{
	return visit->who.role >= role && visit->context->settings->read_only % 2 == 0;
}

static void take_query(void *context, const char *name, const char *value)
{
	form_add(context, name, value);
}

/* What stands behind start, when path begins with it as a whole name; else NULL. */
static const char *behind(const char *path, const char *start)
{
	size_t size = strlen(start);

	if (!text_starts_with(path, start) || (path[size] != '\0' && path[size] != '/'))
		return NULL;
	return path[size] == '\0' ? "/" : path + size;
}

/* false: it is not below our prefix, or too long to be a page of ours. */
static bool read_path(struct visit *visit)
{
	const char *path = behind(visit->request->path, visit->context->prefix);

	if (path == NULL)
		return false;
	const char *api = behind(path, api_path);
	visit->is_api = api != NULL;
	return text_copy(visit->path, sizeof(visit->path), api != NULL ? api : path);
}

static bool is_route(struct visit *visit, const struct route *route)
{
	const char *wanted = route->path;
	const char *path = visit->path;

	visit->part[0] = '\0';
	for (; *wanted != '\0'; wanted++) {
		if (*wanted != '*') {
			if (*wanted != *path++)
				return false;
			continue;
		}
		size_t size = strcspn(path, "/");
		if (size == 0 || size >= sizeof(visit->part))
			return false;
		memcpy(visit->part, path, size);
		visit->part[size] = '\0';
		path += size;
	}
	return *path == '\0';
}

/* 404, 405, or 0 with visit->route. */
static unsigned int find_route(struct visit *visit)
{
	bool is_head = text_equals(visit->request->method, "HEAD");
	const char *method = is_head ? "GET" : visit->request->method;
	unsigned int status = 404;

	for (const struct route *route = routes; route->path != NULL; route++) {
		if (!is_route(visit, route))
			continue;
		if (text_equals(route->method, method)) {
			visit->route = route;
			return 0;
		}
		status = 405;
	}
	return status;
}

static void ask_to_log_in(struct visit *visit, const char *detail)
{
	httpd_add_header(visit->answer, "WWW-Authenticate",
		visit->is_api ? "Bearer" : "Basic realm=\"Lapse\", charset=\"UTF-8\"");
	respond_problem(
		visit, 401, PHRASE("A name and a password, or a token, are needed here."), detail);
}

static void refuse_person(struct visit *visit, const char *english)
{
	counts_add_auth_failure(visit->who.auth);
	ledger_note_login(visit);
	if (visit->who.auth == ROLE_AUTH_PROXY)
		respond_problem(visit, 403, english, visit->who.name);
	else
		ask_to_log_in(visit, say(visit, english));
}

static bool admit(struct visit *visit)
{
	uint64_t wait_ms = 0;
	char seconds[24];

	switch (access_identify(visit->context->access, visit->request, &visit->who, &wait_ms)) {
	case ACCESS_VERDICT_WELCOME:
		visit->is_welcome = true;
		return true;
	case ACCESS_VERDICT_ASK:
		ask_to_log_in(visit, NULL);
		return false;
	case ACCESS_VERDICT_WRONG:
		refuse_person(visit, PHRASE("The name, password or token is wrong."));
		return false;
	case ACCESS_VERDICT_STRANGER:
		refuse_person(
			visit, PHRASE("The proxy names somebody who is not in the users file."));
		return false;
	case ACCESS_VERDICT_WAIT:
		(void)text_format(seconds, sizeof(seconds), "%" PRIu64, wait_ms / 1000 + 1);
		httpd_add_header(visit->answer, "Retry-After", seconds);
		respond_problem(visit, 429,
			PHRASE("Too many wrong log-ins from this address. Wait a minute."), NULL);
		return false;
	}
	return false;
}

static bool is_of_type(const struct visit *visit, const char *type)
{
	const char *given = httpd_header(visit->request, "Content-Type");
	size_t size = strlen(type);

	return given != NULL && strncasecmp(given, type, size) == 0 &&
	       (given[size] == '\0' || given[size] == ';' || given[size] == ' ');
}

static bool read_body(struct visit *visit)
{
	struct error error = { .text = "" };
	enum result result = RESULT_OK;

	if (visit->is_api &&
		(visit->request->body_size == 0 || is_of_type(visit, "application/json")))
		result = form_read_json(
			visit->request->body, visit->request->body_size, &visit->form, &error);
	else if (!visit->is_api && is_of_type(visit, "application/x-www-form-urlencoded"))
		result = form_read(
			visit->request->body, visit->request->body_size, &visit->form, &error);
	else
		result = error_set(RESULT_PERMANENT, &error, "Content-Type: %s is needed",
			visit->is_api ? "application/json" : "application/x-www-form-urlencoded");
	if (result != RESULT_OK)
		respond_problem(visit, 400, PHRASE("The form cannot be read."), error.text);
	return result == RESULT_OK;
}

/* What would change something: sent by the person, from a page of ours? */
static bool check_origin(struct visit *visit)
{
	const struct csrf_headers headers = {
		.fetch_site = httpd_header(visit->request, "Sec-Fetch-Site"),
		.origin = httpd_header(visit->request, "Origin"),
		.host = httpd_header(visit->request, "Host"),
		.origins = visit->context->settings->origins,
		.is_bearer = visit->who.auth == ROLE_AUTH_TOKEN,
	};
	char words[CSRF_WORDS_SIZE];
	bool is_good = csrf_check_headers(&headers, words);

	if (is_good && !visit->is_api && !headers.is_bearer)
		is_good = csrf_check_token(form_get(visit->form, "csrf"), visit->context->secret,
			visit->who.name, visit->path, csrf_hour_now(), words);
	if (!is_good)
		respond_problem(visit, 403,
			PHRASE("The request does not seem to come from a page of this console."),
			words);
	return is_good;
}

static bool may_change(struct visit *visit)
{
	if (visit->context->settings->read_only % 2 == 0)
		return read_body(visit) && check_origin(visit);
	respond_problem(visit, 403, PHRASE("Read only: nothing can be changed here."), NULL);
	return false;
}

static void serve(struct visit *visit)
{
	unsigned int status = read_path(visit) ? 0 : 404;

	if (!admit(visit))
		return;
	if (status == 0)
		status = find_route(visit);
	if (status == 405)
		respond_problem(visit, 405, PHRASE("This page does not take that method."), NULL);
	else if (status != 0)
		respond_problem(visit, 404, PHRASE("There is no such page."), NULL);
	else if (visit->who.role < visit->route->least_role)
		respond_problem(visit, 403, PHRASE("Your role may not do this."),
			act_role_names[visit->route->least_role]);
	else if (text_equals(visit->route->method, "GET") || may_change(visit))
		visit->route->handle(visit);
}

/* 404 cannot be: every path has its route at httpd; methods other than GET and POST, and bodies
 * that are too large. */
static void refuse(struct visit *visit)
{
	unsigned int status = visit->answer->status;

	(void)read_path(visit);
	if (!admit(visit))
		return;
	respond_problem(visit, status,
		status == 413 ? PHRASE("The request is larger than 64 KiB.")
			      : PHRASE("This page does not take that method."),
		NULL);
}

static void run(struct visit *visit, void (*work)(struct visit *visit))
{
	uint64_t begin_us = clock_now_us();

	form_create(&visit->query);
	httpd_each_query(visit->request, take_query, visit->query);
	work(visit);
	counts_add_request(visit->route, visit->answer->status, clock_now_us() - begin_us);
	form_destroy(&visit->query);
	form_destroy(&visit->form);
}

void visit_handle(void *context, const struct httpd_request *request, struct httpd_answer *answer)
{
	struct visit visit = { .context = context, .request = request, .answer = answer };

	run(&visit, serve);
}

void visit_refuse(void *context, const struct httpd_request *request, struct httpd_answer *answer)
{
	struct visit visit = { .context = context, .request = request, .answer = answer };

	run(&visit, refuse);
}
