#include <stddef.h>

#include "common/service/service.h"
#include "sweeper/once.h"
#include "sweeper/sweeper.h"

int main(int argc, char **argv)
{
	struct sweeper_settings settings = { 0 };
	struct sweeper *sweeper = NULL;
	int status;

	/* Options, settings, log, signals, ops port.  Leaves after --help or a mistake. */
	service_begin(argc, argv, &sweeper_program, &settings);

	/* Allocates only.  Connections are opened by the first step and reopened by later ones. */
	sweeper_create(&settings, &sweeper);
	if (settings.runs_once)
		status = once_run(sweeper);
	else
		status = service_run(sweeper_step, sweeper);

	sweeper_destroy(&sweeper);
	service_end();
	return status;
}
