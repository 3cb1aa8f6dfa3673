/*
 * httpd - small HTTP/1.1 server: routes by table, limits on size, time and connections.
 *
 * It has no thread: the owner calls httpd_step, which answers what has arrived.  A client that
 * sends its request or takes its answer too slowly is cut off after the time limit and never holds
 * up the others; when places get scarce, the one that has been at it longest is cut off earlier.
 * Unknown paths are answered 404, known ones with another method 405; HEAD goes to the GET handler.
 */
#ifndef COMMON_IO_HTTPD_H
#define COMMON_IO_HTTPD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/result.h"
#include "common/io/httpd_source.h"

struct httpd;

enum {
	HTTPD_HEADER_VALUE_SIZE = 512,
	HTTPD_HEADER_MAX = 6,
	HTTPD_PEER_SIZE = 46, /* an IPv6 address as text */
	HTTPD_GROUP_MAX = 32, /* so that what a group holds is held for a moment only */
};

struct httpd_request {
	const char *method;
	const char *path; /* without the query, percent signs decoded once by the library */
	const char *body; /* NUL-terminated, "" when empty */
	size_t body_size;
	void *library_request; /* for httpd_header and httpd_query */
};

struct httpd_header_line {
	const char *name; /* a constant; NULL: none */
	char value[HTTPD_HEADER_VALUE_SIZE];
};

/* A handler fills it; body is taken over (adopted) and freed after sending. */
struct httpd_answer {
	unsigned int status;
	bool drop_connection;     /* close without an answer, for servers that play dead in tests */
	const char *content_type; /* a constant */
	char *body_adopt;
	size_t body_size;
	struct httpd_source source; /* read is NULL: the body is the answer */
	struct httpd_header_line headers[HTTPD_HEADER_MAX]; /* see httpd_add_header */
	uint64_t delay_ms; /* the answer waits, the others do not; for servers that play slow */
};

struct httpd_route {
	const char *method;
	/* Exact but for stars: one in the middle stands for one name, one at the end for anything
	 * below.  The first path that fits is taken, whatever the method; NULL ends. */
	const char *path;
	void (*handle)(
		void *context, const struct httpd_request *request, struct httpd_answer *answer);
};

/* A header that every answer of a server carries, also those no route makes. */
struct httpd_constant {
	const char *name; /* NULL ends the list */
	const char *value;
};

/* Requests that arrived together and may be handled as one: one after the other between begin and
 * end, and no answer leaves before end.  A lone one runs without. */
struct httpd_group {
	bool (*is_member)(const struct httpd_request *request);
	bool (*begin)(void *context);  /* false: each is handled for itself */
	void (*settle)(void *context); /* what handlers put off; fills their answers */
	/* false: nothing holds of what the handlers did; each is handled again, for itself. */
	bool (*end)(void *context);
};

struct httpd_settings {
	const char *address;                    /* see endpoint */
	const struct httpd_constant *constants; /* NULL: none */
	const struct httpd_route *routes;
	/* Fills the answer where no route does: 404, 405 or 413; NULL: one plain line. */
	void (*refuse)(
		void *context, const struct httpd_request *request, struct httpd_answer *answer);
	const struct httpd_group *group; /* NULL: none */
	void *context;
	size_t body_max; /* bytes; more is answered 413 */
	uint32_t connection_max;
	uint32_t connection_per_address_max; /* 0: no limit of its own */
	/* For a request, for its answer or a piece of it, and for a kept connection between two. */
	uint64_t time_limit_ms;
};

/* PERMANENT when the address cannot be bound.  Copies the address, borrows the rest. */
MUST_USE enum result httpd_create(
	const struct httpd_settings *settings, struct httpd **httpd_out, struct error *error);
void httpd_destroy(struct httpd **httpd);
/* The port it listens on, useful when port 0 was asked for. */
uint16_t httpd_port(const struct httpd *httpd);
/* Takes, reads, answers; waits up to wait_ms when nothing is there. */
void httpd_step(struct httpd *httpd, uint64_t wait_ms);
/* From now on nobody new is let in, and who is there leaves with the next answer. */
void httpd_close_door(struct httpd *httpd);
/* For the end, again and again: answers who has connected, closes.  true: nobody is expected. */
bool httpd_drain(struct httpd *httpd);
/* Requests that have begun and whose answers are not sent yet. */
size_t httpd_count_under_way(const struct httpd *httpd);

/* One more header of the answer; name is a constant.  REQUIREs a free place. */
void httpd_add_header(struct httpd_answer *answer, const char *name, const char *value);
/* NULL when absent, "" for a name without a value; borrowed for the handler's run. */
const char *httpd_header(const struct httpd_request *request, const char *name);
const char *httpd_query(const struct httpd_request *request, const char *name);
/* Every name and value of the query, in their order; value is never NULL. */
void httpd_each_query(const struct httpd_request *request,
	void (*take)(void *context, const char *name, const char *value), void *context);
/* The address at the other end of the connection; an IPv4 one that came over IPv6 as IPv4. */
void httpd_peer(const struct httpd_request *request, char peer_out[HTTPD_PEER_SIZE]);

#endif
