/*
 * process - a program under test: starts, signals, waits, collects what it wrote.
 *
 * The program dies with the test program, however that one ends.  What it writes to standard output
 * and standard error goes into files of the given folder and stays there.
 */
#ifndef TESTS_SUPPORT_PROCESS_H
#define TESTS_SUPPORT_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct process;

enum {
	PROCESS_TIME_IS_UP = -1 /* instead of an exit status */
};

struct process_plan {
	const char *program;          /* a name in the folder of our programs, or a path */
	const char *const *arguments; /* without the name, ended by NULL; NULL: none */
	char *const *environment;     /* ended by NULL */
	const char *folder;           /* for its output */
	const char *input;            /* a file to read as standard input; NULL: nothing */
};

/* Fails the test when there is no such program. */
void process_start(const struct process_plan *plan, struct process **process_out);
/* Kills it when it is still there. */
void process_destroy(struct process **process);

int process_id(const struct process *process);
bool process_is_alive(struct process *process);
/* For wait_until, over a struct process: has it been stopped (SIGSTOP)? */
bool process_is_stopped(void *process);
void process_signal(const struct process *process, int number);
/* The exit status, 128 + the number of the signal that ended it, or PROCESS_TIME_IS_UP. */
int process_wait(struct process *process, uint64_t limit_ms);
/* kill -9, and waits for the end. */
void process_kill(struct process *process);

/* Resident memory in KiB; 0 when it is gone. */
uint64_t process_resident_kib(const struct process *process);
/* The most it ever was. */
uint64_t process_peak_kib(const struct process *process);
/* Processor time used so far, in milliseconds. */
uint64_t process_cpu_ms(const struct process *process);

/* What it has written so far; owned by the caller. */
char *process_output(const struct process *process);
char *process_errors(const struct process *process);
char *process_everything(const struct process *process); /* one behind the other */
/* How often standard error holds the text: for events of the log. */
size_t process_count_logged(const struct process *process, const char *text);

#endif
