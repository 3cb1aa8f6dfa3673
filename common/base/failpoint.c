/* Compiled into builds with failpoints only: see the LAPSE_FAILPOINTS option. */
#include "common/base/failpoint.h"

#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/result.h"
#include "common/base/text.h"

void failpoint_pass(const char *name)
{
	static uint64_t passages;
	const char *wish = getenv("FAILPOINT");
	size_t length = strlen(name);
	uint64_t hit = 1;

	if (wish == NULL || strncmp(wish, name, length) != 0 ||
		(wish[length] != '\0' && wish[length] != ':'))
		return;
	const char *action = wish[length] == ':' ? wish + length + 1 : "kill";
	const char *count = strchr(action, ':');
	if (count != NULL && !text_parse_uint(count + 1, 1, UINT64_MAX, &hit))
		return;
	passages++;
	if (passages != hit)
		return;
	if (text_starts_with(action, "exit"))
		_exit(EXIT_STATUS_FAILED);
	while (text_starts_with(action, "hang"))
		(void)pause();
	(void)kill(getpid(), text_starts_with(action, "stop") ? SIGSTOP : SIGKILL);
}
