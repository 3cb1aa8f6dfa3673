#include <stddef.h>

#include "common/service/service.h"
#include "console/console.h"

int main(int argc, char **argv)
{
	struct console_settings settings = { 0 };
	struct console *console = NULL;
	struct error error = { 0 };
	int status;

	/* Options, settings, log, signals, ops port.  Leaves after --help or a mistake. */
	service_begin(argc, argv, &console_program, &settings);

	if (console_create(&settings, &console, &error) == RESULT_OK)
		status = service_run(console_step, console);
	else
		status = service_fail("console did not start", &error);

	console_destroy(&console);
	service_end();
	return status;
}
