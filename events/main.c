#include <stddef.h>

#include "common/service/service.h"
#include "events/events.h"

int main(int argc, char **argv)
{
	struct events_settings settings = { 0 };
	struct events *events = NULL;
	int status;

	/* Options, settings, log, ops port.  Leaves by itself after --help or a mistake. */
	service_begin(argc, argv, &events_program, &settings);

	/* Allocates only.  Connections are opened by the first step and reopened by later ones. */
	events_create(&settings, &events);
	status = service_run(events_step, events);

	events_destroy(&events);
	service_end();
	return status;
}
