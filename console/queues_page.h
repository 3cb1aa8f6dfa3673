/*
 * queues_page - our queues as the snapshot knows them.
 */
#ifndef CONSOLE_QUEUES_PAGE_H
#define CONSOLE_QUEUES_PAGE_H

#include "console/visit.h"

void queues_page_show(struct visit *visit);

#endif
