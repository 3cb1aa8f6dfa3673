/*
 * switches - the switches of misbehaviour over HTTP, and what they make of an answer.
 */
#ifndef DEMO_SHARED_SWITCHES_H
#define DEMO_SHARED_SWITCHES_H

#include <stdbool.h>

struct httpd_answer;
struct httpd_request;
struct misbehave;

/* All switches by name. */
void switches_answer(const struct misbehave *misbehave, struct httpd_answer *answer);
/*
 * Sets those that the body names, as text or number, and answers with all; one that is absent stays
 * as it is.  A value that is none: 400 and no change at all.
 */
void switches_change(
	struct misbehave *misbehave, const struct httpd_request *http, struct httpd_answer *answer);

/*
 * Throws the dice for one call: does it misbehave?  works_out: the call is carried out and answered
 * as if all were well; when its answer is to be lost, that is in the answer already.
 */
bool switches_misbehave(
	const struct misbehave *misbehave, struct httpd_answer *answer, bool *works_out);
/* true, and the answer: it has to fail for this SKU. */
bool switches_fail_for(
	const struct misbehave *misbehave, const char *sku_id, struct httpd_answer *answer);

#endif
