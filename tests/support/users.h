/*
 * users - every program of a sandbox under its own MySQL and RabbitMQ user, made the way an
 * installation makes them: scripts/secrets, the database's first start, the broker's definitions.
 */
#ifndef TESTS_SUPPORT_USERS_H
#define TESTS_SUPPORT_USERS_H

struct query;
struct sandbox;

/* The users belong to the servers, so nothing else that makes them may run beside. */
void users_create(struct sandbox *sandbox);
void users_destroy(void);

/* Programs started from now on are "consumer", "ctl", ...: both addresses, or only MySQL's where
 * the user has no other. */
void users_become(struct sandbox *sandbox, const char *name);
/* A connection as that user. */
void users_connect(const char *name, struct query **query_out);
/* Its address of the broker, owned by the caller. */
void users_read_amqp(const char *name, char **url_out);

#endif
