/*
 * service - the life of a daemon: options, settings, log, signals, ops port, the loop, the end.
 *
 * Knows nothing about the work: that is the step, at most one batch of work and at most one second
 * of waiting for work.
 */
#ifndef COMMON_SERVICE_SERVICE_H
#define COMMON_SERVICE_SERVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/result.h"
#include "common/base/settings.h"
#include "common/service/metrics.h"

/* The first member of every daemon's settings struct. */
struct service_settings {
	char *ops_addr; /* NULL: off */
	int log_level;  /* enum log_level */
	int log_format; /* enum log_format */
	char *instance; /* NULL: the host name */
	uint64_t shutdown_timeout_ms;
};

/* LAPSE_OPS_ADDR, LAPSE_LOG_LEVEL, LAPSE_LOG_FORMAT, LAPSE_INSTANCE, LAPSE_SHUTDOWN_TIMEOUT. */
extern const struct setting service_settings_table[];

/*
 * How long a daemon waits before it looks for a server again.  The cap keeps the promise that work
 * goes on within 15 s of a server's return, however long it was away.
 */
enum {
	SERVICE_BACKOFF_BASE_MS = 500,
	SERVICE_BACKOFF_CAP_MS = 8000,
};

enum service_check {
	SERVICE_CHECK_MYSQL = 1,
	SERVICE_CHECK_AMQP = 2,
	SERVICE_CHECK_HTTP = 4, /* its own listening socket */
};

struct service_program {
	const char *name;    /* "lapse-consumer" */
	const char *summary; /* one line for --help */
	const struct setting *settings;
	/* Rules between settings.  Fields that could not be read are NULL or 0.  May be NULL. */
	void (*check)(const void *settings, struct settings_report *report);
	const struct metric_family *metrics; /* ended by METRIC_END; may be NULL */
	unsigned int checks;                 /* enum service_check, or-ed: what /readyz asks for */
	void (*dump)(void *context);         /* state to the log on USR1; may be NULL */
	void (*reload)(void *context);       /* after HUP has read secrets again; may be NULL */
	/* A last chance to settle what is under way after a stop request: called again and again
	 * while it says RESULT_OK and time is left; NONE: nothing is left.  May be NULL. */
	enum result (*drain)(void *context, struct error *error);
	/* Options and operands of its own behind the common options, given to it one by one;
	 * false: it does not know this one.  NULL: there are none. */
	bool (*take_argument)(void *settings, const char *argument);
	const char *usage; /* lines about take_argument for --help; may be NULL */
};

/*
 * Options, settings, log, signals, metrics, ops port.  argv[0] is not looked at.  Leaves by itself
 * after --help, --version, --check-config, --healthcheck or a mistake.  settings is all zero and
 * starts with a struct service_settings.  Borrows program and settings until service_end.
 */
void service_begin(int argc, char **argv, const struct service_program *program, void *settings);

/*
 * Calls step until a stop is requested; gives the exit status.  OK, NONE → again at once; CONFLICT
 * → again after a short random pause; TEMPORARY → not ready, a warning at the first, tenth,
 * hundredth time of the same words, wait by backoff (0.5 s doubling to 8 s, full jitter) in slices
 * that end at a stop request; PERMANENT → up to 30 s and an error line each time.  The first good
 * turn after that logs "recovered".  HUP and USR1 are served between turns and slices.  A program
 * that ends by itself calls shutdown_request().
 */
int service_run(enum result (*step)(void *context, struct error *error), void *context);
/* Logs the error and gives EXIT_STATUS_FAILED. */
int service_fail(const char *what, const struct error *error);
void service_end(void);

/* What /readyz says about one dependency.  text (may be NULL) is copied. */
void service_set_check(enum service_check check, bool is_well, const char *text);
/* Counts a connection that was lost and built again. */
void service_note_reconnect(enum service_check check);
/* For steps that wait inside: stores the time of a turn for /livez. */
void service_note_turn(void);

#endif
