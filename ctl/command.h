/*
 * command - the command line of lapsectl: commands by table.
 */
#ifndef CTL_COMMAND_H
#define CTL_COMMAND_H

/* Reads the command line and the environment, runs one command, gives the exit status. */
int command_main(int argc, char **argv);

#endif
