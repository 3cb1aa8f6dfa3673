#include "console/chart.h"

#include <inttypes.h>

#include "common/base/text.h"
#include "console/buffer.h"
#include "console/instant.h"
#include "console/page.h"

enum {
	WIDTH = 720,
	HEIGHT = 120,
	STEP = WIDTH / PULSE_MINUTES,
	NUMBER_SIZE = 24,
	POINT_SIZE = 48,
};

static void write_bar(struct html *html, size_t place, uint64_t value, uint64_t highest)
{
	uint64_t height = highest == 0 ? 0 : value * HEIGHT / highest;
	char x[NUMBER_SIZE];
	char y[NUMBER_SIZE];
	char size[NUMBER_SIZE];
	char width[NUMBER_SIZE];

	if (value == 0)
		return;
	height = height == 0 ? 1 : height;
	(void)text_format(x, sizeof(x), "%zu", place * STEP + 1);
	(void)text_format(y, sizeof(y), "%" PRIu64, HEIGHT - height);
	(void)text_format(size, sizeof(size), "%" PRIu64, height);
	(void)text_format(width, sizeof(width), "%d", STEP - 2);
	html_open(html, "rect", "x", x, "y", y, "width", width, "height", size, "class", "closes",
		HTML_END);
	html_close(html, "rect");
}

static void write_line(struct html *html, const struct pulse_minute minutes[PULSE_MINUTES],
	int64_t highest, bool is_mean)
{
	struct buffer points = { .text = NULL };

	for (size_t i = 0; i < PULSE_MINUTES; i++) {
		int64_t lag = is_mean ? minutes[i].lag_mean_ms : minutes[i].lag_max_ms;
		char point[POINT_SIZE];

		if (minutes[i].closes == 0)
			continue;
		(void)text_format(point, sizeof(point), "%zu,%" PRId64 " ", i * STEP + STEP / 2,
			highest <= 0 ? HEIGHT : HEIGHT - lag * HEIGHT / highest);
		buffer_add_text(&points, point);
	}
	html_open(html, "polyline", "points", buffer_text(&points), "class",
		is_mean ? "mean" : "highest", HTML_END);
	html_close(html, "polyline");
	buffer_clear(&points);
}

static void write_drawing(const struct visit *visit, struct html *html, const char *english)
{
	html_open(html, "svg", "viewBox", "0 0 720 120", "class", "chart", "role", "img",
		"aria-label", say(visit, english), "preserveAspectRatio", "none", HTML_END);
}

static void write_caption(
	const struct visit *visit, struct html *html, const char *english, const char *highest)
{
	html_open(html, "figcaption", HTML_END);
	page_fill(visit, html, english, highest, NULL);
	html_close(html, "figcaption");
}

void chart_write(const struct visit *visit, struct html *html,
	const struct pulse_minute minutes[PULSE_MINUTES])
{
	uint64_t most = 0;
	int64_t latest = 0;
	char number[INSTANT_DURATION_SIZE];

	for (size_t i = 0; i < PULSE_MINUTES; i++) {
		most = minutes[i].closes > most ? minutes[i].closes : most;
		latest = minutes[i].lag_max_ms > latest ? minutes[i].lag_max_ms : latest;
	}
	html_open(html, "div", "class", "charts", HTML_END);
	html_open(html, "figure", HTML_END);
	write_drawing(visit, html, PHRASE("Closes per minute"));
	for (size_t i = 0; i < PULSE_MINUTES; i++)
		write_bar(html, i, minutes[i].closes, most);
	html_close(html, "svg");
	(void)text_format(number, sizeof(number), "%" PRIu64, most);
	write_caption(
		visit, html, PHRASE("Closes per minute of the last hour, at most {1}"), number);
	html_close(html, "figure");
	html_open(html, "figure", HTML_END);
	write_drawing(visit, html, PHRASE("Lateness per minute"));
	write_line(html, minutes, latest, false);
	write_line(html, minutes, latest, true);
	html_close(html, "svg");
	instant_format_duration((uint64_t)latest, number);
	write_caption(visit, html,
		PHRASE("Lateness of the last hour: mean and highest of each minute, at most {1}"),
		number);
	html_close(html, "figure");
	html_close(html, "div");
}
