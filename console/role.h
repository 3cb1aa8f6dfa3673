/*
 * role - who may do what, and how somebody was recognised.
 */
#ifndef CONSOLE_ROLE_H
#define CONSOLE_ROLE_H

#include <stdbool.h>

enum role {
	ROLE_VIEWER,   /* reads, without what belongs to buyers */
	ROLE_OPERATOR, /* acts on one row or a selection */
	ROLE_ADMIN,
};

enum role_auth {
	ROLE_AUTH_BASIC,
	ROLE_AUTH_TOKEN,
	ROLE_AUTH_PROXY,
};

enum {
	ROLE_NAME_SIZE = 64 + 1,
	ROLE_ADDRESS_SIZE = 46,
};

/* The words of the audit, ended by NULL; those of the roles are act_role_names. */
extern const char *const role_auth_names[];

struct identity {
	char name[ROLE_NAME_SIZE];
	enum role role;
	enum role_auth auth;
	char address[ROLE_ADDRESS_SIZE]; /* of the person, not of a proxy we trust */
	bool is_proxied;                 /* a proxy we trust has passed the request on */
};

/* false: no such word. */
bool role_parse(const char *word, enum role *role_out);

#endif
