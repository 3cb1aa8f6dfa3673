/*
 * about_page - version, schema, settings in effect, licence.
 */
#ifndef CONSOLE_ABOUT_PAGE_H
#define CONSOLE_ABOUT_PAGE_H

#include "console/visit.h"

void about_page_show(struct visit *visit);

#endif
