#include "common/service/process_metrics.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
	FILE_SIZE = 4096,
	/* Fields of /proc/self/stat behind the name, counted from 0 (proc(5) counts from 3). */
	STAT_USER_TICKS = 11,
	STAT_SYSTEM_TICKS = 12,
	STAT_START_TICKS = 19,
	STAT_VIRTUAL_BYTES = 20,
	STAT_RESIDENT_PAGES = 21,
	STAT_COUNT,
};

enum {
	CPU_SECONDS,
	RESIDENT_BYTES,
	VIRTUAL_BYTES,
	START_SECONDS,
	OPEN_FILES,
	MOST_FILES,
};

const struct metric_family process_metrics_families[] = {
	[CPU_SECONDS] = { .type = METRIC_TYPE_MEASURED,
		.name = "process_cpu_seconds_total",
		.help = "User and system CPU time spent." },
	[RESIDENT_BYTES] = { .type = METRIC_TYPE_GAUGE,
		.name = "process_resident_memory_bytes",
		.help = "Resident memory." },
	[VIRTUAL_BYTES] = { .type = METRIC_TYPE_GAUGE,
		.name = "process_virtual_memory_bytes",
		.help = "Virtual memory." },
	[START_SECONDS] = { .type = METRIC_TYPE_GAUGE,
		.name = "process_start_time_seconds",
		.help = "Start of the process since 1970." },
	[OPEN_FILES] = { .type = METRIC_TYPE_GAUGE,
		.name = "process_open_fds",
		.help = "Open file descriptors." },
	[MOST_FILES] = { .type = METRIC_TYPE_GAUGE,
		.name = "process_max_fds",
		.help = "Largest number of open file descriptors." },
	METRIC_END,
};

static void set(int family, double value)
{
	metrics_set(&process_metrics_families[family], 0, value);
}

static bool read_small_file(const char *path, char content[FILE_SIZE])
{
	int handle = open(path, O_RDONLY | O_CLOEXEC);

	if (handle < 0)
		return false;
	ssize_t size = read(handle, content, FILE_SIZE - 1);
	(void)close(handle);
	content[size > 0 ? size : 0] = '\0';
	return size > 0;
}

/* The name may hold blanks and brackets, so the fields begin behind the last bracket. */
static bool read_stat(uint64_t fields[STAT_COUNT])
{
	char content[FILE_SIZE];

	if (!read_small_file("/proc/self/stat", content))
		return false;
	char *rest = strrchr(content, ')');
	if (rest == NULL || strlen(rest) < strlen(") S "))
		return false;
	rest += strlen(") S");
	for (size_t i = 1; i < STAT_COUNT; i++) {
		char *end = NULL;

		/* Some fields are negative; those are none of ours. */
		fields[i] = strtoull(rest, &end, 10);
		if (end == rest)
			return false;
		rest = end;
	}
	return true;
}

/* Seconds since 1970 at which the machine started; 0 when /proc does not say. */
static double read_boot_seconds(void)
{
	FILE *file = fopen("/proc/stat", "re");
	char line[256];
	uint64_t seconds = 0;

	while (file != NULL && seconds == 0 && fgets(line, sizeof(line), file) != NULL)
		if (strncmp(line, "btime ", strlen("btime ")) == 0)
			seconds = strtoull(line + strlen("btime "), NULL, 10);
	if (file != NULL)
		(void)fclose(file);
	return (double)seconds;
}

static size_t count_open_files(void)
{
	DIR *directory = opendir("/proc/self/fd");
	size_t count = 0;

	if (directory == NULL)
		return 0;
	/* A thread owns the stream it has just opened. */
	while (readdir(directory) != NULL) /* NOLINT(concurrency-mt-unsafe) */
		count++;
	(void)closedir(directory);
	/* Without ".", ".." and the directory itself. */
	return count > 3 ? count - 3 : 0;
}

void process_metrics_update(void)
{
	uint64_t fields[STAT_COUNT] = { 0 };
	struct rlimit limit = { 0 };
	double ticks = (double)sysconf(_SC_CLK_TCK);

	if (read_stat(fields)) {
		set(CPU_SECONDS,
			(double)(fields[STAT_USER_TICKS] + fields[STAT_SYSTEM_TICKS]) / ticks);
		set(VIRTUAL_BYTES, (double)fields[STAT_VIRTUAL_BYTES]);
		set(RESIDENT_BYTES,
			(double)fields[STAT_RESIDENT_PAGES] * (double)sysconf(_SC_PAGESIZE));
		set(START_SECONDS, read_boot_seconds() + (double)fields[STAT_START_TICKS] / ticks);
	}
	set(OPEN_FILES, (double)count_open_files());
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0)
		set(MOST_FILES, (double)limit.rlim_cur);
}
