/*
 * statics - style sheet, script and icon, built into the program.
 */
#ifndef CONSOLE_STATICS_H
#define CONSOLE_STATICS_H

#include "console/visit.h"

void statics_send(struct visit *visit);

#endif
