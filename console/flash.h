/*
 * flash - the line behind a redirect: what has just been done, as its audit row tells it.
 */
#ifndef CONSOLE_FLASH_H
#define CONSOLE_FLASH_H

#include "console/html.h"
#include "console/visit.h"

/* Of the audit row that ?audit= names; nothing without one, or when it cannot be read. */
void flash_write(struct visit *visit, struct html *html);

#endif
