#include <stddef.h>

#include "common/service/service.h"
#include "retry/retry.h"

int main(int argc, char **argv)
{
	struct retry_settings settings = { 0 };
	struct retry *retry = NULL;
	int status;

	/* Options, settings, log, signals, ops port.  Leaves itself after --help or a mistake. */
	service_begin(argc, argv, &retry_program, &settings);

	/* Allocates only.  Connections are opened by the first step and reopened by later ones. */
	retry_create(&settings, &retry);
	status = service_run(retry_step, retry);

	retry_destroy(&retry);
	service_end();
	return status;
}
