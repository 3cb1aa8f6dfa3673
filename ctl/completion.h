/*
 * completion - the completion of the command line for shells, made from the tables of commands and
 * options.
 */
#ifndef CTL_COMPLETION_H
#define CTL_COMPLETION_H

#include <stdio.h>

struct session;

void completion_print_bash(FILE *file);
void completion_print_zsh(FILE *file);

/* lapsectl completion bash|zsh */
int completion_run(const struct session *session);

#endif
