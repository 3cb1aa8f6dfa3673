/*
 * broker_content - properties and headers of a message: ours into the library's form and back.
 *
 * A part of broker.  Nothing that was received is ever handed on: what goes out is built anew from
 * struct broker_message.
 */
#ifndef COMMON_IO_BROKER_CONTENT_H
#define COMMON_IO_BROKER_CONTENT_H

#include "common/io/broker.h"
#include "common/io/broker_amqp.h"

enum {
	BROKER_CONTENT_HEADERS_MAX = 5
};

/* The library's form of a message; borrows the texts of the message it was filled from. */
struct broker_content {
	amqp_basic_properties_t properties;
	amqp_table_entry_t headers[BROKER_CONTENT_HEADERS_MAX];
};

/* The properties point into content itself: it must not be copied. */
void broker_content_fill(struct broker_content *content, const struct broker_message *message);

/* Copies what we read of properties into delivery, whose texts and flags are all empty. */
void broker_content_read(
	const amqp_basic_properties_t *properties, struct broker_delivery *delivery);

/* A NUL-terminated copy of bytes from the network: cut to fit, cleaned of what is no text. */
void broker_content_copy_text(char *target, size_t target_size, amqp_bytes_t bytes);

#endif
