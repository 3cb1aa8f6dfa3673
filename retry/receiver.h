/*
 * receiver - the context of every call: who takes its answer.
 */
#ifndef RETRY_RECEIVER_H
#define RETRY_RECEIVER_H

struct http_answer;
struct receiver;

/* The first member of what stands behind a call.  take frees what it needs no longer. */
struct receiver {
	void (*take)(struct receiver *receiver, const struct http_answer *answer);
};

#endif
