/*
 * access - who may call: bearer tokens, compared in constant time, and a rate limit per caller.
 */
#ifndef GATEWAY_ACCESS_H
#define GATEWAY_ACCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/result.h"
#include "common/io/httpd.h"

struct access;

/*
 * tokens_file has lines "name:sha256 of the token in hex"; NULL: everybody who reaches us may call.
 * rate: requests a second of one caller, who may save them up for two seconds.
 * PERMANENT: the file cannot be read or holds something else.
 */
MUST_USE enum result access_create(
	const char *tokens_file, uint64_t rate, struct access **access_out, struct error *error);
void access_destroy(struct access **access);
/* Reads the file again; mistakes leave the tokens as they are. */
MUST_USE enum result access_reload(struct access *access, struct error *error);

/* Fills answer with 401 or 429 and gives false when the request may not go on. */
bool access_admit(
	struct access *access, const struct httpd_request *request, struct httpd_answer *answer);

#endif
