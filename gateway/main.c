#include <stddef.h>

#include "common/service/service.h"
#include "gateway/gateway.h"

int main(int argc, char **argv)
{
	struct gateway_settings settings = { 0 };
	struct gateway *gateway = NULL;
	struct error error = { 0 };
	int status;

	/* Options, settings, log, signals, ops port.  Leaves after --help or a mistake. */
	service_begin(argc, argv, &gateway_program, &settings);

	if (gateway_create(&settings, &gateway, &error) == RESULT_OK)
		status = service_run(gateway_step, gateway);
	else
		status = service_fail("gateway did not start", &error);

	gateway_destroy(&gateway);
	service_end();
	return status;
}
