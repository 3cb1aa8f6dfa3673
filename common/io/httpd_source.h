/*
 * httpd_source - an answer of httpd that is made while it is sent.
 */
#ifndef COMMON_IO_HTTPD_SOURCE_H
#define COMMON_IO_HTTPD_SOURCE_H

#include <stddef.h>

enum {
	HTTPD_SOURCE_BROKEN = -1
};

struct httpd_source {
	/* Fills in up to size bytes: how many; 0: that was all; HTTPD_SOURCE_BROKEN: the rest
	 * cannot be had, and the connection is reset so that nobody takes what came for the
	 * whole. */
	long (*read)(void *context, char *bytes_out, size_t size);
	void (*destroy)(void *context); /* called once, whatever happened */
	void *context;
};

#endif
