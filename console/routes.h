/*
 * routes - every page and act: method, path, least role, handler.
 */
#ifndef CONSOLE_ROUTES_H
#define CONSOLE_ROUTES_H

#include "console/visit.h"

/* The first that fits is taken; a path NULL ends it. */
extern const struct route routes[];

#endif
