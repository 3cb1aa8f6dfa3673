#include "bench/load/watch.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/text.h"

enum {
	LOOK_MS = 20, /* between two looks: 0.3 % of seven seconds */
	ANSWER_MAX = 262144,
	FILE_SIZE = 4096,
	STAT_USER_TICKS = 11, /* behind the name, counted from 0 */
	TEN = 10,
	MS_PER_SECOND = 1000,
};

static const char request[] = "GET /metrics HTTP/1.1\r\nHost: localhost\r\n"
			      "Connection: close\r\n\r\n";

/* The whole answer; empty when the port does not listen yet. */
static void ask(uint16_t port, char *answer)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(port) };
	size_t size = 0;
	ssize_t got = 0;
	int handle = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	answer[0] = '\0';
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (handle < 0)
		return;
	if (connect(handle, (struct sockaddr *)&address, sizeof(address)) == 0 &&
		send(handle, request, sizeof(request) - 1, MSG_NOSIGNAL) > 0)
		do {
			size += (size_t)got;
			got = recv(handle, answer + size, ANSWER_MAX - 1 - size, 0);
		} while (got > 0);
	answer[size] = '\0';
	(void)close(handle);
}

/* Of all lines that begin with metric, the numbers at their ends together. */
static uint64_t sum_lines(const char *answer, const char *metric)
{
	double sum = 0;

	for (const char *line = answer; line != NULL; line = strchr(line, '\n')) {
		line += *line == '\n' ? 1 : 0;
		if (!text_starts_with(line, metric))
			continue;
		const char *value = line + strcspn(line, "\n");
		while (value > line && value[-1] != ' ')
			value--;
		sum += strtod(value, NULL);
	}
	return (uint64_t)sum;
}

static uint64_t look(const struct watch *watch)
{
	static char answer[ANSWER_MAX];
	uint64_t sum = 0;

	for (int i = 0; i < watch->port_count; i++) {
		ask(watch->ports[i], answer);
		sum += sum_lines(answer, watch->metric);
	}
	return sum;
}

static bool read_file(pid_t pid, const char *name, char content[FILE_SIZE])
{
	char path[64];

	(void)text_format(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	FILE *file = fopen(path, "re");
	if (file == NULL)
		return false;
	content[fread(content, 1, FILE_SIZE - 1, file)] = '\0';
	(void)fclose(file);
	return true;
}

static uint64_t cpu_ms(pid_t pid)
{
	char content[FILE_SIZE];
	uint64_t ticks = 0;

	if (!read_file(pid, "stat", content))
		return 0;
	char *field = strrchr(content, ')');
	for (int i = 0; field != NULL && i <= STAT_USER_TICKS; i++)
		field = strchr(field + 1, ' ');
	if (field != NULL) {
		ticks = strtoull(field, &field, TEN);
		ticks += strtoull(field, NULL, TEN);
	}
	return ticks * MS_PER_SECOND / (uint64_t)sysconf(_SC_CLK_TCK);
}

static uint64_t resident_kib(pid_t pid)
{
	char content[FILE_SIZE];

	if (!read_file(pid, "status", content))
		return 0;
	const char *line = strstr(content, "VmRSS:");
	return line == NULL ? 0 : strtoull(line + strlen("VmRSS:"), NULL, TEN);
}

static void sample(struct watch *watch)
{
	for (int i = 0; i < watch->process_count; i++) {
		struct watch_process *process = &watch->processes[i];
		uint64_t kib = resident_kib(process->pid);

		process->resident_last_kib = kib;
		if (kib > process->resident_peak_kib)
			process->resident_peak_kib = kib;
		if (process->resident_early_kib == 0 && watch->done * TEN >= watch->count)
			process->resident_early_kib = kib;
		process->cpu_end_ms = cpu_ms(process->pid);
	}
}

static void note_start(struct watch *watch)
{
	watch->start_ms = clock_epoch_ms();
	for (int i = 0; i < watch->process_count; i++)
		watch->processes[i].cpu_start_ms = cpu_ms(watch->processes[i].pid);
}

enum result watch_run(struct watch *watch, struct error *error)
{
	uint64_t progress_ms = clock_now_ms();

	note_start(watch);
	while (watch->done < watch->count) {
		clock_wait_ms(LOOK_MS);
		uint64_t done = look(watch);

		if (done == 0)
			note_start(watch);
		if (done != watch->done)
			progress_ms = clock_now_ms();
		watch->done = done;
		watch->end_ms = clock_epoch_ms();
		sample(watch);
		if (clock_now_ms() - progress_ms > watch->time_limit_ms)
			return error_set(RESULT_TEMPORARY, error,
				"no progress: %" PRIu64 " of %" PRIu64, done, watch->count);
	}
	return RESULT_OK;
}
