/*
 * prometheus - a private Prometheus that scrapes some ops ports every second and evaluates the
 * rules of deploy/prometheus.
 */
#ifndef TESTS_SUPPORT_PROMETHEUS_H
#define TESTS_SUPPORT_PROMETHEUS_H

#include <stddef.h>
#include <stdint.h>

#include "tests/support/http_client.h"

struct prometheus;

/* Starts one; does not wait. */
void prometheus_create(
	const uint16_t *ports, size_t port_count, struct prometheus **prometheus_out);
void prometheus_destroy(struct prometheus **prometheus);

/* GET of its API; the status. */
unsigned int prometheus_get(
	const struct prometheus *prometheus, const char *path, char answer_out[HTTP_CLIENT_SIZE]);
/* The status of a query of any text. */
unsigned int prometheus_query(const struct prometheus *prometheus, const char *expression,
	char answer_out[HTTP_CLIENT_SIZE]);
/* Waits until the answer to path holds the words, or fails the test. */
void prometheus_await(const struct prometheus *prometheus, const char *path, const char *words,
	uint64_t limit_ms);
/* The same for a query. */
void prometheus_await_query(
	const struct prometheus *prometheus, const char *expression, const char *words);

#endif
