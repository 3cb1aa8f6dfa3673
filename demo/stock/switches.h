/*
 * switches - the switches of misbehaviour over HTTP.
 */
#ifndef DEMO_STOCK_SWITCHES_H
#define DEMO_STOCK_SWITCHES_H

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

#endif
