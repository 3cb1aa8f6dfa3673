#include <stddef.h>

#include "common/service/service.h"
#include "demo/receiver/receiver.h"

int main(int argc, char **argv)
{
	struct receiver_settings settings = { 0 };
	struct receiver *receiver = NULL;
	struct error error = { 0 };
	int status;

	/* Options, settings, log, ops port.  Leaves by itself after --help or a mistake. */
	service_begin(argc, argv, &receiver_program, &settings);

	if (receiver_create(&settings, &receiver, &error) == RESULT_OK)
		status = service_run(receiver_step, receiver);
	else
		status = service_fail("receiver did not start", &error);

	receiver_destroy(&receiver);
	service_end();
	return status;
}
