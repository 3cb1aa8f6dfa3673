#include "console/overview_page.h"

#include <stdlib.h>

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/io/json.h"
#include "common/report/pulse.h"
#include "common/report/snapshot.h"
#include "console/chart.h"
#include "console/page.h"
#include "console/respond.h"
#include "console/settings.h"
#include "console/tile.h"

static const char *const level_names[] = { "plain", "good", "warn", "bad", "unknown" };

static void write_tile(const struct visit *visit, struct html *html, const struct tile *tile)
{
	char class_name[32];
	char note[TILE_NOTE_SIZE];

	tile_format_note(tile, visit->context->language, note);
	(void)text_format(class_name, sizeof(class_name), "tile %s", level_names[tile->level]);
	html_open(html, "li", "class", class_name, HTML_END);
	if (tile->path != NULL)
		page_link(visit, html, tile->path, say(visit, tile->title));
	else
		page_element(visit, html, "span", NULL, tile->title);
	html_element(html, "strong", NULL,
		tile->level == TILE_LEVEL_UNKNOWN ? say(visit, PHRASE("cannot tell"))
						  : tile->value);
	html_element(html, "small", NULL, note);
	html_close(html, "li");
}

static void write_tiles(const struct visit *visit, struct html *html, const struct tiles *tiles)
{
	for (size_t i = 0; i < tiles->count; i++) {
		const struct tile *tile = &tiles->list[i];

		if (tile->group != NULL && (i == 0 || tile->group != tiles->list[i - 1].group)) {
			if (i > 0)
				html_close(html, "ul");
			html_element(html, "h2", NULL, say(visit, tile->group));
			html_open(html, "ul", "class", "tiles", HTML_END);
		}
		write_tile(visit, html, tile);
	}
	html_close(html, "ul");
}

static void answer_json(
	struct visit *visit, const struct snapshot_figures *figures, const struct tiles *tiles)
{
	struct json *root = json_create_object();
	struct json *list = json_create_array();

	for (size_t i = 0; i < tiles->count; i++) {
		const struct tile *tile = &tiles->list[i];
		struct json *figure = json_create_object();
		char note[TILE_NOTE_SIZE];

		tile_format_note(tile, LANGUAGE_EN, note);
		json_set_text(figure, "title", tile->title);
		json_set_text(figure, "level", level_names[tile->level]);
		json_set_text(
			figure, "value", tile->level == TILE_LEVEL_UNKNOWN ? NULL : tile->value);
		json_set_text(figure, "note", note);
		json_append_adopt(list, &figure);
	}
	json_set_text(root, "time", figures->number == 0 ? NULL : figures->time);
	json_adopt(root, "figures", &list);
	respond_json(visit, 200, &root);
}

static void answer_page(struct visit *visit, const struct tiles *tiles)
{
	struct pulse_minute minutes[PULSE_MINUTES];
	struct html *html = page_begin(visit, PHRASE("Overview"));

	write_tiles(visit, html, tiles);
	if (pulse_read(visit->context->pulse, minutes))
		chart_write(visit, html, minutes);
	page_end(visit, 200, &html);
}

void overview_page_show(struct visit *visit)
{
	const struct snapshot_figures *figures = snapshot_figures(visit->context->snapshot);
	const struct tile_settings settings = {
		.sweep_interval_ms = visit->context->settings->sweep_interval_ms,
		.overdue_grace_ms = visit->context->settings->overdue_grace_ms,
	};
	struct tiles *tiles = memory_allocate(sizeof(*tiles));

	tiles_fill(figures, &settings, tiles);
	if (visit->is_api)
		answer_json(visit, figures, tiles);
	else
		answer_page(visit, tiles);
	free(tiles);
}
