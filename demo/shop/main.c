#include <stddef.h>

#include "common/service/service.h"
#include "demo/shop/shop.h"

int main(int argc, char **argv)
{
	struct shop_settings settings = { .order_count = 0 };
	struct shop *shop = NULL;
	int status;

	shop_set_defaults(&settings);

	/* Options, settings, log, signals, ops port.  Leaves after --help or a mistake. */
	service_begin(argc, argv, &shop_program, &settings);

	/* Allocates only.  Connections are opened by the first step and reopened by later ones. */
	shop_create(&settings, &shop);
	status = service_run(shop_step, shop);
	if (status == EXIT_STATUS_OK)
		status = shop_finish(shop);

	shop_destroy(&shop);
	service_end();
	return status;
}
