/*
 * broker_link - the inside of a broker: opening and dropping the connection, naming its failures.
 *
 * Only the parts of broker (broker*.c) include this.
 */
#ifndef COMMON_IO_BROKER_LINK_H
#define COMMON_IO_BROKER_LINK_H

#include <stdbool.h>
#include <stdint.h>

#include "common/io/broker.h"
#include "common/io/broker_amqp.h"
#include "common/io/broker_reader.h"
#include "common/io/broker_writer.h"

struct broker {
	const struct broker_settings *settings;
	char *name;
	amqp_connection_state_t connection; /* NULL: not connected */
	uint64_t epoch;
	bool is_blocked;
	bool is_consuming;
	bool has_confirms;
	uint64_t published; /* since confirms were turned on */
	char consumer_tag[BROKER_NAME_SIZE];
	char server[BROKER_NAME_SIZE];
	uint16_t refusal_code;
	char refusal_text[BROKER_NAME_SIZE];
	struct broker_reader reader;
	struct broker_writer writer;
};

/* Connects, logs in, opens the channel.  The broker is not connected before. */
MUST_USE enum result broker_link_open(struct broker *broker, struct error *error);
/* Forgets the connection and everything that belongs to it, without a word. */
void broker_link_drop(struct broker *broker);

/* Drops the connection after a failed library call and says "what: text". */
enum result broker_link_fail(
	struct broker *broker, int status, const char *what, struct error *error);
/* Remembers with which code and text the broker refused something. */
void broker_link_set_refusal(struct broker *broker, uint16_t code, const char *text);
/*
 * The answer to the library's last question.  A refusal drops the connection: PERMANENT when asking
 * again cannot help, else TEMPORARY.
 */
MUST_USE enum result broker_link_check_reply(
	struct broker *broker, amqp_rpc_reply_t reply, const char *what, struct error *error);
/* Does the broker's answer say that the channel was closed with this code? */
bool broker_link_is_channel_closed(amqp_rpc_reply_t reply, uint16_t code);
/* Answers the broker's channel close and opens the channel anew. */
MUST_USE enum result broker_link_reopen_channel(struct broker *broker, struct error *error);

#endif
