#include "tests/support/process.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <check.h>

#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/base/text.h"
#include "tests/support/wait_until.h"

enum {
	ARGUMENTS_MAX = 64,
	FILE_READ_MAX = 64 * 1024 * 1024,
	EXIT_NOT_STARTED = 127
};

struct process {
	pid_t id;
	bool is_over;
	int status;
	char output_path[PATH_MAX];
	char errors_path[PATH_MAX];
};

static void redirect(int target, const char *path, int flags)
{
	int file = open(path, flags | O_CLOEXEC, 0600);

	if (file < 0 || dup2(file, target) < 0)
		_exit(EXIT_NOT_STARTED);
}

static void forget_handlers(const sigset_t *mask)
{
	static const int handled[] = { SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGALRM };
	const struct sigaction forgotten = { .sa_handler = SIG_DFL };

	for (size_t i = 0; i < ARRAY_LENGTH(handled); i++)
		(void)sigaction(handled[i], &forgotten, NULL);
	(void)sigprocmask(SIG_SETMASK, mask, NULL);
}

/* Runs in the child, between fork and exec. */
static void become_program(const struct process *process, const struct process_plan *plan,
	const char *path, pid_t parent)
{
	char *arguments[ARGUMENTS_MAX] = { memory_copy_text(plan->program) };
	size_t count = 1;

	for (; plan->arguments != NULL && plan->arguments[count - 1] != NULL; count++) {
		if (count == ARGUMENTS_MAX - 1)
			_exit(EXIT_NOT_STARTED);
		arguments[count] = memory_copy_text(plan->arguments[count - 1]);
	}
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(EXIT_NOT_STARTED);
	redirect(STDIN_FILENO, plan->input == NULL ? "/dev/null" : plan->input, O_RDONLY);
	redirect(STDOUT_FILENO, process->output_path, O_WRONLY | O_CREAT | O_APPEND);
	redirect(STDERR_FILENO, process->errors_path, O_WRONLY | O_CREAT | O_APPEND);
	(void)execve(path, arguments, plan->environment);
	_exit(EXIT_NOT_STARTED);
}

static void find_program(const char *program, char path[PATH_MAX])
{
	(void)text_format(path, PATH_MAX, "%s%s%s",
		strchr(program, '/') == NULL ? TEST_BIN_DIR : "",
		strchr(program, '/') == NULL ? "/" : "", program);
	ck_assert_msg(access(path, X_OK) == 0, "%s is not there: build it first", path);
}

/* Two runs of one program write into two files. */
static void name_files(struct process *process, const struct process_plan *plan)
{
	static unsigned int runs;
	const char *slash = strrchr(plan->program, '/');
	const char *name = slash == NULL ? plan->program : slash + 1;

	runs++;
	(void)text_format(process->output_path, PATH_MAX, "%s/%s.%u.out", plan->folder, name, runs);
	(void)text_format(process->errors_path, PATH_MAX, "%s/%s.%u.err", plan->folder, name, runs);
}

void process_start(const struct process_plan *plan, struct process **process_out)
{
	struct process *process = memory_allocate(sizeof(*process));
	char path[PATH_MAX];
	pid_t parent = getpid();

	sigset_t all;
	sigset_t before;

	*process_out = process;
	find_program(plan->program, path);
	name_files(process, plan);
	/* Check's handlers end the whole group: no signal may reach them in the child. */
	(void)sigfillset(&all);
	(void)sigprocmask(SIG_SETMASK, &all, &before);
	process->id = fork();
	if (process->id == 0) {
		forget_handlers(&before);
		become_program(process, plan, path, parent);
	}
	(void)sigprocmask(SIG_SETMASK, &before, NULL);
	ck_assert_int_ge(process->id, 0);
}

static void note_end(struct process *process, int status)
{
	process->is_over = true;
	process->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static bool has_ended(void *context)
{
	struct process *process = context;
	int status = 0;

	if (!process->is_over && waitpid(process->id, &status, WNOHANG) == process->id)
		note_end(process, status);
	return process->is_over;
}

void process_destroy(struct process **process)
{
	if (*process == NULL)
		return;
	if ((*process)->id > 0)
		process_kill(*process);
	free(*process);
	*process = NULL;
}

int process_id(const struct process *process)
{
	return process->id;
}

bool process_is_alive(struct process *process)
{
	return !has_ended(process);
}

void process_signal(const struct process *process, int number)
{
	if (!process->is_over)
		(void)kill(process->id, number);
}

int process_wait(struct process *process, uint64_t limit_ms)
{
	return wait_until(has_ended, process, limit_ms) ? process->status : PROCESS_TIME_IS_UP;
}

void process_kill(struct process *process)
{
	process_signal(process, SIGKILL);
	(void)process_wait(process, WAIT_LIMIT_MS);
}

static bool open_proc(const struct process *process, const char *name, FILE **file_out)
{
	char path[64];

	(void)text_format(path, sizeof(path), "/proc/%d/%s", (int)process->id, name);
	*file_out = process->is_over ? NULL : fopen(path, "re");
	return *file_out != NULL;
}

static uint64_t read_status_kib(const struct process *process, const char *name)
{
	FILE *file = NULL;
	char line[256];
	unsigned long long kib = 0;

	if (!open_proc(process, "status", &file))
		return 0;
	while (fgets(line, sizeof(line), file) != NULL)
		if (text_starts_with(line, name))
			kib = strtoull(line + strlen(name), NULL, 10);
	(void)fclose(file);
	return kib;
}

uint64_t process_resident_kib(const struct process *process)
{
	return read_status_kib(process, "VmRSS:");
}

uint64_t process_peak_kib(const struct process *process)
{
	return read_status_kib(process, "VmHWM:");
}

/* The field behind the name, which may hold anything but ends with ")", is the state. */
bool process_is_stopped(void *context)
{
	const struct process *process = context;
	FILE *file = NULL;
	char line[1024] = "";

	if (!open_proc(process, "stat", &file))
		return false;
	if (fgets(line, sizeof(line), file) == NULL)
		line[0] = '\0';
	(void)fclose(file);
	const char *end = strrchr(line, ')');
	return end != NULL && text_starts_with(end, ") T");
}

/* Fields 14 and 15 of stat, counted behind the name, which may hold anything but ends with ")". */
uint64_t process_cpu_ms(const struct process *process)
{
	FILE *file = NULL;
	char line[1024] = "";
	unsigned long long ticks = 0;

	if (!open_proc(process, "stat", &file))
		return 0;
	(void)fgets(line, sizeof(line), file);
	(void)fclose(file);
	char *field = strrchr(line, ')');
	for (int number = 2; field != NULL && number < 15; number++) {
		field = strchr(field + 1, ' ');
		if (field != NULL && number >= 13)
			ticks += strtoull(field + 1, NULL, 10);
	}
	return ticks * 1000 / (unsigned long long)sysconf(_SC_CLK_TCK);
}

static char *read_file(const char *path)
{
	FILE *file = fopen(path, "re");
	struct stat facts = { 0 };

	if (file == NULL || stat(path, &facts) != 0 || facts.st_size > FILE_READ_MAX) {
		if (file != NULL)
			(void)fclose(file);
		return memory_copy_text("");
	}
	char *content = memory_allocate((size_t)facts.st_size + 1);
	size_t size = fread(content, 1, (size_t)facts.st_size, file);
	content[size] = '\0';
	(void)fclose(file);
	return content;
}

char *process_output(const struct process *process)
{
	return read_file(process->output_path);
}

char *process_errors(const struct process *process)
{
	return read_file(process->errors_path);
}

char *process_everything(const struct process *process)
{
	char *output = process_output(process);
	char *errors = process_errors(process);
	size_t size = strlen(output) + strlen(errors) + 1;
	char *both = memory_allocate(size);

	(void)text_format(both, size, "%s%s", output, errors);
	free(output);
	free(errors);
	return both;
}

size_t process_count_logged(const struct process *process, const char *text)
{
	char *errors = process_errors(process);
	size_t count = 0;

	for (char *place = strstr(errors, text); place != NULL;
		place = strstr(place + strlen(text), text))
		count++;
	free(errors);
	return count;
}
