#include "tests/support/child.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/result.h"

static void collect_output(int reader, struct child_end *end)
{
	ssize_t got = 0;

	do {
		got = read(reader, end->output + end->output_size,
			sizeof(end->output) - 1 - end->output_size);
		if (got > 0)
			end->output_size += (size_t)got;
	} while (got > 0);
	end->output[end->output_size] = '\0';
}

void child_run(void (*function)(void *context), void *context, struct child_end *end_out)
{
	int lines[2];
	int status = 0;

	end_out->output_size = 0;
	REQUIRE(pipe(lines) == 0);
	(void)fflush(NULL);
	pid_t child = fork();
	REQUIRE(child >= 0);
	if (child == 0) {
		(void)dup2(lines[1], STDERR_FILENO);
		(void)close(lines[0]);
		(void)close(lines[1]);
		function(context);
		_exit(EXIT_SUCCESS);
	}
	(void)close(lines[1]);
	collect_output(lines[0], end_out);
	(void)close(lines[0]);
	REQUIRE(waitpid(child, &status, 0) == child);
	end_out->status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	end_out->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}
