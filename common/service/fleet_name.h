/*
 * fleet_name - the entries of LAPSE_CONSOLE_FLEET: "producer:9464, [::1]:9465".
 */
#ifndef COMMON_SERVICE_FLEET_NAME_H
#define COMMON_SERVICE_FLEET_NAME_H

#include "common/base/result.h"

enum {
	FLEET_NAME_SIZE = 64,
	FLEET_PORT_SIZE = 8,
};

struct fleet_name {
	char host[FLEET_NAME_SIZE]; /* without the brackets of an IPv6 address */
	char port[FLEET_PORT_SIZE];
};

/* The entry at *place, which moves behind it.  NONE: there is no more.  PERMANENT: it is not
 * NAME:PORT; the next call goes on with the next one. */
MUST_USE enum result fleet_name_next(
	const char **place, struct fleet_name *name_out, struct error *error);

#endif
