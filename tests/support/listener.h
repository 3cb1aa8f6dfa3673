/*
 * listener - a listening socket on a loopback port of our own.
 */
#ifndef TESTS_SUPPORT_LISTENER_H
#define TESTS_SUPPORT_LISTENER_H

#include <stdint.h>

/*
 * *port 0: takes a free port below those the kernel gives to outgoing connections, so that the
 * same port can be opened again after a while of refusing.  Non-blocking.  -1: the port is taken.
 */
int listener_open(uint16_t *port);
/* Connects to a loopback port; non-blocking; -1 when it is refused. */
int listener_connect(uint16_t port);

#endif
