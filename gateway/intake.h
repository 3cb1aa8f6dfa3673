/*
 * intake - what all requests have in common around their own work: admission, a stop that is
 * near, the connection, the answer to trouble and to what no route takes.
 */
#ifndef GATEWAY_INTAKE_H
#define GATEWAY_INTAKE_H

#include <stdbool.h>

#include "common/base/result.h"
#include "common/io/httpd.h"

struct context;
struct db;

/* The connection to MySQL.  NULL: it is away, or the program ends too soon to begin something;
 * answered. */
struct db *intake_connect(struct context *context, struct httpd_answer *answer);
/* First of all, for requests with a token: request id, admission, connection.  NULL: answered. */
struct db *intake_begin(
	struct context *context, const struct httpd_request *request, struct httpd_answer *answer);
/* What is to be answered when MySQL did not do what: 503 when it may work later, else 500. */
void intake_fail(struct context *context, struct httpd_answer *answer, const char *what,
	enum result result, const struct error *error);

/* For httpd: what no route takes. */
void intake_refuse(void *context, const struct httpd_request *request, struct httpd_answer *answer);

#endif
