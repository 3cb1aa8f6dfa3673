/*
 * fleet - the processes behind the names of LAPSE_CONSOLE_FLEET: each name is resolved to all its
 * addresses, and the ops port at each is asked whether it is ready.
 *
 * Asked anew every few seconds, beside the loop: nothing here waits.
 */
#ifndef CONSOLE_FLEET_H
#define CONSOLE_FLEET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/result.h"
#include "common/service/fleet_name.h"

enum {
	FLEET_NAME_MAX = 32,
	FLEET_MEMBER_MAX = 256,
	FLEET_TEXT_SIZE = 256,
	FLEET_ADDRESS_SIZE = 64,
};

struct fleet;

struct fleet_member {
	char name[FLEET_NAME_SIZE];       /* as in the setting: "consumer" */
	char address[FLEET_ADDRESS_SIZE]; /* "172.18.0.7:9464"; "" when the name has none */
	char program[FLEET_NAME_SIZE];    /* "" when it did not say */
	char version[FLEET_NAME_SIZE];
	bool is_there; /* it answers */
	bool is_ready;
	char why[FLEET_TEXT_SIZE]; /* not ready, or no answer */
};

/* PERMANENT: the setting is no list of name:port. */
MUST_USE enum result fleet_check(const char *setting, struct error *error);

/* setting has been checked; NULL: nobody. */
void fleet_create(const char *setting, struct fleet **fleet_out);
void fleet_destroy(struct fleet **fleet);

/* In every turn; gives after how many milliseconds it wants to be called again. */
uint64_t fleet_work(struct fleet *fleet);

size_t fleet_count(const struct fleet *fleet);
/* Valid until the next fleet_work. */
const struct fleet_member *fleet_at(const struct fleet *fleet, size_t place);
/* Since the last whole round; UINT64_MAX: there was none yet. */
uint64_t fleet_age_ms(const struct fleet *fleet);
/* Different versions among those that answer. */
size_t fleet_count_versions(const struct fleet *fleet);
/* Those that do not answer at all, names without an address among them. */
size_t fleet_count_down(const struct fleet *fleet);
bool fleet_is_configured(const struct fleet *fleet);

#endif
