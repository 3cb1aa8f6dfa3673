#include <stddef.h>

#include "common/service/service.h"
#include "producer/producer.h"
#include "producer/publish.h"

int main(int argc, char **argv)
{
	struct producer_settings settings = { 0 };
	struct producer *producer = NULL;
	int status;

	/* Options, settings, log, signals, ops port.  Leaves after --help or a mistake. */
	service_begin(argc, argv, &producer_program, &settings);

	/* Allocates only.  Connections are opened by the first step and reopened by later ones. */
	producer_create(&settings, &producer);
	if (settings.publish.is_wanted)
		status = publish_run(&settings);
	else
		status = service_run(producer_step, producer);

	producer_destroy(&producer);
	producer_clear_arguments(&settings);
	service_end();
	return status;
}
