/*
 * navigation - the head of a page: installation, person, clock, age of the figures, warnings, and
 * where one can go.
 */
#ifndef CONSOLE_NAVIGATION_H
#define CONSOLE_NAVIGATION_H

#include "console/html.h"
#include "console/visit.h"

void navigation_write(const struct visit *visit, struct html *html);

#endif
