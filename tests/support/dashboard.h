/*
 * dashboard - the Grafana dashboard that is shipped.
 */
#ifndef TESTS_SUPPORT_DASHBOARD_H
#define TESTS_SUPPORT_DASHBOARD_H

struct json;

/* Owned by the caller; fails the test when it cannot be read. */
struct json *dashboard_read(void);

#endif
