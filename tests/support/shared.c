#include "tests/support/shared.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/result.h"
#include "tests/support/scratch.h"

void *shared_create(size_t size_bytes)
{
	char path[] = TEST_SCRATCH_DIR "/shared.XXXXXX";

	(void)scratch_folder();
	int file = mkstemp(path);
	REQUIRE(file >= 0);
	(void)unlink(path);
	REQUIRE(ftruncate(file, (off_t)size_bytes) == 0);
	void *memory = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	REQUIRE(memory != MAP_FAILED);
	(void)close(file);
	return memory;
}

void shared_destroy(void *memory, size_t size_bytes)
{
	if (memory != NULL)
		(void)munmap(memory, size_bytes);
}

pid_t shared_fork(void (*serve)(void *context), void *context)
{
	pid_t parent = getpid();

	(void)fflush(NULL);
	pid_t child = fork();
	REQUIRE(child >= 0);
	if (child != 0)
		return child;
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() == parent)
		serve(context);
	_exit(EXIT_SUCCESS);
}

void shared_end(pid_t child)
{
	if (child <= 0)
		return;
	(void)kill(child, SIGKILL);
	(void)waitpid(child, NULL, 0);
}
