/*
 * openapi - an OpenAPI document held against the answers of a server: each answer must be
 * described, and in the end each description must have been seen.
 */
#ifndef TESTS_SUPPORT_OPENAPI_H
#define TESTS_SUPPORT_OPENAPI_H

#include <stddef.h>

struct api_answer;
struct openapi;
struct outline;

/* Fails the test when the document is not there or not of the kind outline reads. */
void openapi_open(const char *path, struct openapi **openapi_out);
void openapi_close(struct openapi **openapi);
const struct outline *openapi_root(const struct openapi *openapi);
/* What a $ref stands for; any other node is given back. */
const struct outline *openapi_resolve(const struct openapi *openapi, const struct outline *node);

/*
 * path as in the document, method in small letters.  Fails the test unless status, content type,
 * headers, required members, types and words of the answer are as described and nothing else is
 * there.
 */
void openapi_check(struct openapi *openapi, const char *method, const char *path,
	const struct api_answer *answer);
/* Fails the test unless text is a document of this schema. */
void openapi_check_document(
	const struct openapi *openapi, const char *schema_name, const char *text);
/* Fails the test for a described status that no answer had. */
void openapi_expect_all_seen(const struct openapi *openapi);

#endif
