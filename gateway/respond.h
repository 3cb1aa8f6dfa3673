/*
 * respond - answers: JSON documents and problems (RFC 9457), with the request id.
 */
#ifndef GATEWAY_RESPOND_H
#define GATEWAY_RESPOND_H

#include "common/io/httpd.h"
#include "common/io/json.h"

/* What the caller gave in X-Request-Id when it is a key, else a new one; goes into every answer. */
void respond_add_request_id(const struct httpd_request *request, struct httpd_answer *answer);
/* Of an answer that respond_add_request_id has seen: its request id. */
const char *respond_request_id(const struct httpd_answer *answer);

/* Takes the document over. */
void respond_json(struct httpd_answer *answer, unsigned int status, struct json **root_adopt);
/* code is a fixed word for machines, detail a sentence for people. */
void respond_problem(
	struct httpd_answer *answer, unsigned int status, const char *code, const char *detail);
/* 409: the order is not UNPAID; tells its status as order_status. */
void respond_final(struct httpd_answer *answer, const char *code, const char *order_status);
/* 503 with Retry-After: nothing was lost, ask again. */
void respond_try_again(struct httpd_answer *answer, const char *detail);

#endif
