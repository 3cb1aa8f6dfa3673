/*
 * httpd_clients - who is connected to an httpd, the one that has been at it longest first, so that
 * slow ones can be cut off.
 */
#ifndef COMMON_IO_HTTPD_CLIENTS_H
#define COMMON_IO_HTTPD_CLIENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct httpd_clients;

struct httpd_client {
	struct httpd_clients *all;
	struct httpd_client *older;
	struct httpd_client *newer;
	int socket;        /* belongs to the library */
	uint64_t since_ms; /* accepted, or an answer or a piece of one was sent */
	bool is_cut;
	bool is_waiting; /* for us: its answer is delayed, which is not its fault */
};

struct httpd_clients {
	struct httpd_client *oldest;
	struct httpd_client *newest;
	size_t count;
};

/* When there are more than crowd_size now, the oldest of the others is cut off. */
struct httpd_client *httpd_clients_add(
	struct httpd_clients *clients, int socket, size_t crowd_size);
/* Its time begins anew. */
void httpd_clients_touch(struct httpd_clients *clients, struct httpd_client *client);
/* NULL is fine; the socket stays as it is. */
void httpd_clients_remove(struct httpd_clients *clients, struct httpd_client *client);
/* Ends the streams of those whose time is over; the library sees that and removes them. */
void httpd_clients_cut_slow(struct httpd_clients *clients, uint64_t time_limit_ms);
/* The moment at which the next one is too slow; UINT64_MAX when there is none. */
uint64_t httpd_clients_next_cut_ms(const struct httpd_clients *clients, uint64_t time_limit_ms);

#endif
