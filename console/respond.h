/*
 * respond - answers: pages, JSON documents, problems (RFC 9457), redirects.
 */
#ifndef CONSOLE_RESPOND_H
#define CONSOLE_RESPOND_H

#include "common/base/result.h"
#include "common/io/json.h"
#include "console/visit.h"

/* Headers that every answer carries. */
extern const struct httpd_constant respond_constants[];

/* Takes text over. */
void respond_text(struct visit *visit, unsigned int status, const char *content_type,
	char *text_adopt, size_t size);
/* Takes the document over. */
void respond_json(struct visit *visit, unsigned int status, struct json **root_adopt);
/* A page or a problem+json: words in the language of the console where there is one, detail as it
 * is (may be NULL). */
void respond_problem(
	struct visit *visit, unsigned int status, const char *english, const char *detail);
/* The problem of a failed call: TEMPORARY 503, CONFLICT 409, NONE 404, PERMANENT 400. */
void respond_failure(struct visit *visit, enum result result, const struct error *error);
/* 303 to a path of ours, encoded already. */
void respond_redirect(struct visit *visit, const char *path);

#endif
