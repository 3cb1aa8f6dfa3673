/*
 * parked_page - messages in lapse.parked: look, replay, discard.
 */
#ifndef CONSOLE_PARKED_PAGE_H
#define CONSOLE_PARKED_PAGE_H

#include "console/visit.h"

void parked_page_show(struct visit *visit);
void parked_page_show_one(struct visit *visit);
void parked_page_replay(struct visit *visit);
void parked_page_discard(struct visit *visit);

#endif
