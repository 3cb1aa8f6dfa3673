/*
 * notify - tells the service manager how the process is doing, where there is one that asks.
 *
 * The protocol of systemd's Type=notify, one datagram to the socket in NOTIFY_SOCKET, by hand and
 * without its library.  Without that variable nothing happens.  Never waits and never fails: a
 * manager that does not listen is not our trouble.
 */
#ifndef COMMON_SERVICE_NOTIFY_H
#define COMMON_SERVICE_NOTIFY_H

#include <stdbool.h>

/* Reads NOTIFY_SOCKET and WATCHDOG_USEC and takes them out of the environment. */
void notify_open(void);
void notify_close(void);

/* The loop turns; the servers need not be there. */
void notify_ready(void);
/* Asked to stop. */
void notify_stopping(void);
/* The loop has turned; told to the manager's watchdog a few times in its interval. */
void notify_alive(void);

#endif
