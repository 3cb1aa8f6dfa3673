/*
 * chart - closes per minute and how late they were, as an inline SVG without script or style.
 */
#ifndef CONSOLE_CHART_H
#define CONSOLE_CHART_H

#include "common/report/pulse.h"
#include "console/html.h"
#include "console/visit.h"

void chart_write(const struct visit *visit, struct html *html,
	const struct pulse_minute minutes[PULSE_MINUTES]);

#endif
