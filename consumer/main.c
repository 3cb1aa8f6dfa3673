#include <stddef.h>

#include "common/service/service.h"
#include "consumer/consumer.h"

int main(int argc, char **argv)
{
	struct consumer_settings settings = { 0 };
	struct consumer *consumer = NULL;
	int status;

	/* Options, settings, log, signals, ops port.  Leaves after --help or a mistake. */
	service_begin(argc, argv, &consumer_program, &settings);

	/* Allocates only.  Connections are opened by the first step and reopened by later ones. */
	consumer_create(&settings, &consumer);
	status = service_run(consumer_step, consumer);

	consumer_destroy(&consumer);
	service_end();
	return status;
}
