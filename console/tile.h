/*
 * tile - the figures of the overview: what is shown on the page and told as JSON.
 */
#ifndef CONSOLE_TILE_H
#define CONSOLE_TILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/report/snapshot_figures.h"
#include "console/instant.h"
#include "console/phrase.h"

enum tile_level {
	TILE_LEVEL_PLAIN,
	TILE_LEVEL_GOOD,
	TILE_LEVEL_WARN,
	TILE_LEVEL_BAD,
	TILE_LEVEL_UNKNOWN,
};

enum {
	TILE_MAX = 64,
	TILE_VALUE_SIZE = 96,
	TILE_NOTE_SIZE = 192,
	TILE_PATH_SIZE = 64,
};

struct tile {
	const char *group; /* a PHRASE, as title */
	const char *title;
	const char *path; /* where the rows behind it are; NULL: nowhere */
	enum tile_level level;
	char value[TILE_VALUE_SIZE];
	const char *note_form; /* a PHRASE with a place for the note; NULL: the note as it is */
	char note[TILE_NOTE_SIZE];
};

struct tiles {
	struct tile list[TILE_MAX];
	size_t count;
	char overdue_path[TILE_PATH_SIZE]; /* of the rows that were counted */
};

struct tile_settings {
	uint64_t sweep_interval_ms; /* what is overdue by two of them is bad */
	uint64_t overdue_grace_ms;  /* of the snapshot */
};

/* The note in the language, filled in. */
void tile_format_note(
	const struct tile *tile, enum language language, char note_out[TILE_NOTE_SIZE]);

/* In the order in which they are shown.  Must not be moved afterwards. */
void tiles_fill(const struct snapshot_figures *figures, const struct tile_settings *settings,
	struct tiles *tiles);

#endif
