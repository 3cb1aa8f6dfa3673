/*
 * overview_page - the figures one looks at first; a figure that is not known is grey, never zero.
 */
#ifndef CONSOLE_OVERVIEW_PAGE_H
#define CONSOLE_OVERVIEW_PAGE_H

#include "console/visit.h"

void overview_page_show(struct visit *visit);

#endif
