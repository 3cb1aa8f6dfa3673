/*
 * line - the producer's connection to the broker: connected, declared, with confirms.
 */
#ifndef PRODUCER_LINE_H
#define PRODUCER_LINE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/result.h"
#include "producer/settings.h"

struct line;

/* Borrows settings, which must live longer. */
void line_create(const struct producer_settings *settings, struct line **line_out);
void line_destroy(struct line **line);

/* Connects, declares the whole topology and turns confirms on; has_reconnected_out: what was
 * published before and not confirmed has to be published again. */
MUST_USE enum result line_ensure(struct line *line, bool *has_reconnected_out, struct error *error);

struct broker *line_broker(struct line *line);
struct topology *line_topology(struct line *line);

/* Serves heartbeats; a connection that is lost here shows in its next use. */
void line_keep_alive(struct line *line);

#endif
