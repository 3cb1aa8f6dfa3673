#include <stddef.h>

#include "common/service/service.h"
#include "demo/stock/stock.h"

int main(int argc, char **argv)
{
	struct stock_settings settings = { 0 };
	struct stock *stock = NULL;
	struct error error = { 0 };
	int status;

	/* Options, settings, log, signals, ops port.  Leaves after --help or a mistake. */
	service_begin(argc, argv, &stock_program, &settings);

	if (stock_create(&settings, &stock, &error) == RESULT_OK)
		status = service_run(stock_step, stock);
	else
		status = service_fail("stock did not start", &error);

	stock_destroy(&stock);
	service_end();
	return status;
}
