/*
 * httpd_exchange - the part of httpd that holds one request and its answer.
 */
#ifndef COMMON_IO_HTTPD_EXCHANGE_H
#define COMMON_IO_HTTPD_EXCHANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <microhttpd.h>

#include "common/io/httpd.h"
#include "common/io/httpd_clients.h"

struct exchange {
	struct MHD_Connection *connection;
	struct httpd_client *client;
	const char *method; /* of the library, as long as the request lasts */
	const char *path;
	char *body;
	size_t body_size, body_capacity;
	bool is_unclear; /* where it ends, or whom it is for */
	bool is_too_large;
	bool is_answered;
	bool drop_connection;
	unsigned int status;
	struct MHD_Response *response;
	uint64_t due_ms;       /* of a delayed answer */
	struct exchange *next; /* delayed as well */
};

/*
 * Does the head say once where the request ends and whom it is for?  A proxy in front that reads
 * two lengths in another way than we do would let one caller put words into the mouth of the next.
 */
bool httpd_exchange_has_clear_head(struct MHD_Connection *connection);
/* size bytes more of the body; beyond body_max the request is too large and they are dropped. */
void httpd_exchange_take_body(
	struct exchange *exchange, size_t body_max, const char *data, size_t size);
/* Valid as long as exchange is. */
struct httpd_request httpd_exchange_request(const struct exchange *exchange);
/* Takes over what answer holds.  constants: headers of each answer, NULL: none.  ends_connection:
 * the client is told to leave with it. */
void httpd_exchange_keep_answer(struct exchange *exchange, struct httpd_answer *answer,
	const struct httpd_constant *constants, bool ends_connection);
/* NO makes the library close the connection without a word. */
enum MHD_Result httpd_exchange_send_answer(struct exchange *exchange);
void httpd_exchange_destroy(struct exchange **exchange);

#endif
