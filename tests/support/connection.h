/*
 * connection - a broker under test, the event it gave last, and what most tests expect of it.
 */
#ifndef TESTS_SUPPORT_CONNECTION_H
#define TESTS_SUPPORT_CONNECTION_H

#include <stddef.h>

#include "common/base/result.h"
#include "common/io/broker.h"

struct connection {
	struct broker *broker;
	struct broker_event event;
	struct error error; /* for every call on broker, so that a failure can show it */
	struct broker_settings settings;
};

/* Connected; fails the test when that is not possible. */
void connection_create(const char *url, struct connection **connection_out);
void connection_destroy(struct connection **connection);
void connection_connect(struct connection *connection);

/* Fails the test, with the error's text, when result is another one. */
void connection_expect(
	const struct connection *connection, enum result result, enum result expected);
/* The next event, which must come within the limit and be of this kind. */
void connection_expect_event(struct connection *connection, enum broker_event_kind kind);
/* The next event of any kind, or the failure; something must come. */
enum result connection_next(struct connection *connection);

/* With the mandatory flag and message id "id-1". */
void connection_publish(struct connection *connection, const char *exchange, const char *key,
	const void *body, size_t size);
/* Messages whose bodies are the numbers from 0; and the same as deliveries, from first to end. */
void connection_publish_numbers(struct connection *connection, const char *key, uint32_t count);
void connection_expect_numbers(struct connection *connection, uint32_t first, uint32_t end);

#endif
