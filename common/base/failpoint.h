/*
 * failpoint - named places where a test may stop or kill the process.
 *
 * FAILPOINT=name[:action[:hit]] in the environment; action is kill (default), stop (SIGSTOP), exit
 * or hang (the loop never comes back, while other threads go on); it happens at the hit-th passage
 * (default 1).  Release builds contain none of it.
 */
#ifndef COMMON_BASE_FAILPOINT_H
#define COMMON_BASE_FAILPOINT_H

#ifdef LAPSE_FAILPOINTS
void failpoint_pass(const char *name);
#define FAILPOINT(name) failpoint_pass(name)
#else
#define FAILPOINT(name) ((void)0)
#endif

#endif
