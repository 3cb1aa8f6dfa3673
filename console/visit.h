/*
 * visit - one request on its way: recognised, checked, given to its route, answered.
 */
#ifndef CONSOLE_VISIT_H
#define CONSOLE_VISIT_H

#include <stdbool.h>

#include "common/io/httpd.h"
#include "console/context.h"
#include "console/form.h"
#include "console/role.h"

struct route;

enum {
	VISIT_PART_SIZE = 160,
	VISIT_PATH_SIZE = 512,
};

struct visit {
	struct context *context;
	const struct httpd_request *request;
	struct httpd_answer *answer;
	const struct route *route;
	char path[VISIT_PATH_SIZE]; /* "/tasks/17": without prefix and without /api/v1 */
	char part[VISIT_PART_SIZE]; /* what the star of the route stands for; "" */
	bool is_api;                /* JSON instead of a page */
	struct identity who;
	struct form *query; /* never NULL */
	struct form *form;  /* of a POST; NULL */
	bool is_welcome;    /* recognised: until then nothing is shown */
};

struct route {
	const char *method;
	const char *path; /* one star stands for one name */
	const char *label;
	enum role least_role;
	void (*handle)(struct visit *visit);
};

/* Handlers of httpd with the context: every request, and what no route takes. */
void visit_handle(void *context, const struct httpd_request *request, struct httpd_answer *answer);
void visit_refuse(void *context, const struct httpd_request *request, struct httpd_answer *answer);

/* The text in the language of this console. */
const char *say(const struct visit *visit, const char *english);
/* NULL: it is not in the query. */
const char *visit_query(const struct visit *visit, const char *name);
bool visit_may(const struct visit *visit, enum role role);

#endif
