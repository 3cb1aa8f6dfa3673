/*
 * httpd_routes - the part of httpd that knows which handler a request is for.
 */
#ifndef COMMON_IO_HTTPD_ROUTES_H
#define COMMON_IO_HTTPD_ROUTES_H

#include "common/io/httpd.h"

/* Gives the request to the first route that takes it, or refuses it with 404 or 405. */
void httpd_route(const struct httpd_settings *settings, const struct httpd_request *request,
	struct httpd_answer *answer);
/* Lets the owner fill the answer, or fills it with one plain line. */
void httpd_refuse(const struct httpd_settings *settings, const struct httpd_request *request,
	unsigned int status, struct httpd_answer *answer);

#endif
