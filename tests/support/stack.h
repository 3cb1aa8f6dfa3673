/*
 * stack - the private servers of this test run: scripts/stack as functions.
 *
 * Which stack it is stands in STACK_NAME and STACK_FOLDER.
 */
#ifndef TESTS_SUPPORT_STACK_H
#define TESTS_SUPPORT_STACK_H

#include <stdbool.h>
#include <stddef.h>

enum {
	STACK_URL_SIZE = 1024
};

bool stack_is_there(void);
/* Runs scripts/stack with these words, ended by NULL; fails the test when the script does. */
void stack_command(const char *const *words);
/* One word: "kill-broker", "start-broker", "freeze-db", ... */
void stack_do(const char *word);
/* The authority that has signed the certificates of both servers: 127.0.0.1 and localhost. */
const char *stack_ca_file(void);
/*
 * The broker over TLS, trusting ca_file; url_out has STACK_URL_SIZE.  By its name: the library does
 * not find an address in a certificate.
 */
void stack_format_amqps_url(char *url_out, const char *vhost, const char *ca_file);
/* Is the exchange type x-delayed-message offered? */
bool stack_has_delay_exchange(void);
/* Where the broker's log ends now, and how many lines behind such a mark hold the text. */
size_t stack_mark_broker_log(void);
size_t stack_count_in_broker_log(size_t mark, const char *text);

#endif
