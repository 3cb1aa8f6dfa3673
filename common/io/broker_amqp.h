/*
 * broker_amqp - the one place that includes the AMQP library, wherever it keeps its header.
 *
 * Only the parts of broker (broker*.c) include this.
 */
#ifndef COMMON_IO_BROKER_AMQP_H
#define COMMON_IO_BROKER_AMQP_H

/* struct timeval, which the library's header uses without naming its home. */
#include <sys/time.h>

#if __has_include(<rabbitmq-c/amqp.h>)
#include <rabbitmq-c/amqp.h>
#include <rabbitmq-c/framing.h>
#include <rabbitmq-c/ssl_socket.h>
#include <rabbitmq-c/tcp_socket.h>
#else
#include <amqp.h>
#include <amqp_framing.h>
#include <amqp_ssl_socket.h>
#include <amqp_tcp_socket.h>
#endif

enum {
	BROKER_AMQP_CHANNEL = 1, /* the only one: the library drops frames of others now and then */
	BROKER_AMQP_FRAME_MAX = 131072,
};

#endif
