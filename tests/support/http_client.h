/*
 * http_client - one plain request, for the ops ports of daemons and for lapse-stock.
 */
#ifndef TESTS_SUPPORT_HTTP_CLIENT_H
#define TESTS_SUPPORT_HTTP_CLIENT_H

#include <stddef.h>
#include <stdint.h>

enum {
	HTTP_CLIENT_SIZE = 262144,
	HTTP_CLIENT_REFUSED = 0
};

/*
 * The status code, or HTTP_CLIENT_REFUSED when nobody answers within the limit.  answer_out holds
 * head and body, NUL-terminated; may be NULL.
 */
unsigned int http_client_get(
	uint16_t port, const char *path, uint64_t limit_ms, char answer_out[HTTP_CLIENT_SIZE]);
/* The same with a body of JSON. */
unsigned int http_client_put(uint16_t port, const char *path, const char *body, uint64_t limit_ms);
/* The value of one series in a text of /metrics, for example
 * lapse_close_total{reason="timeout"}; -1 when it is not there. */
double http_client_metric(uint16_t port, const char *series);

#endif
