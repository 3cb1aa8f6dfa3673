/*
 * fleet_page - every process of the fleet: program, address, version, ready or why not.
 */
#ifndef CONSOLE_FLEET_PAGE_H
#define CONSOLE_FLEET_PAGE_H

#include "console/visit.h"

void fleet_page_show(struct visit *visit);

#endif
