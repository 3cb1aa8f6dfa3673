#include "console/navigation.h"

#include <string.h>

#include "common/base/text.h"
#include "common/order/act.h"
#include "common/report/snapshot.h"
#include "common/service/database.h"
#include "common/service/ops.h"
#include "console/instant.h"
#include "console/page.h"
#include "console/settings.h"

enum {
	FIGURES_OLD_MS = 60000,
	COLOURS = 6,
};

struct place {
	const char *path;
	const char *english;
};

static const struct place places[] = {
	{ "/", PHRASE("Overview") },
	{ "/tasks", PHRASE("Tasks") },
	{ "/orders", PHRASE("Orders") },
	{ "/payments", PHRASE("Payments") },
	{ "/outbox", PHRASE("Outbox") },
	{ "/parked", PHRASE("Parked") },
	{ "/queues", PHRASE("Queues") },
	{ "/rules", PHRASE("Rules") },
	{ "/alerts", PHRASE("Alerts") },
	{ "/fleet", PHRASE("Fleet") },
	{ "/audit", PHRASE("Audit") },
	{ "/about", PHRASE("About") },
};

/* Production is red; every other name has a colour of its own, always the same. */
static void format_environment_class(const char *name, char class_name[24])
{
	unsigned int sum = 0;

	if (text_starts_with(name, "prod")) {
		(void)text_copy(class_name, 24, "env env-prod");
		return;
	}
	for (; *name != '\0'; name++)
		sum = sum * 31 + (unsigned char)*name;
	(void)text_format(class_name, 24, "env env-%u", sum % COLOURS);
}

static void write_figures_age(const struct visit *visit, struct html *html)
{
	uint64_t age_ms = snapshot_age_ms(visit->context->snapshot);
	char length[INSTANT_DURATION_SIZE];

	if (age_ms == UINT64_MAX) {
		page_element(visit, html, "span", "muted", PHRASE("no figures yet"));
		return;
	}
	instant_format_duration(age_ms, length);
	html_open(html, "span", "class", "muted", HTML_END);
	page_fill(visit, html, PHRASE("figures {1} old"), length, NULL);
	html_close(html, "span");
}

static void write_clock(const struct visit *visit, struct html *html)
{
	int64_t now_ms = 0;
	char now[INSTANT_SIZE];

	if (database_away_ms(visit->context->database) > 0 ||
		!instant_now(visit->context->database, &now_ms)) {
		page_element(visit, html, "span", "muted", PHRASE("MySQL's time is not known"));
		return;
	}
	text_format_time(now, sizeof(now), (uint64_t)now_ms);
	now[strlen("2026-01-31T10:21:03")] = '\0';
	html_open(html, "span", "class", "muted", "title", say(visit, PHRASE("MySQL's time")),
		HTML_END);
	html_textf(html, "%s UTC", now);
	html_close(html, "span");
}

static void write_bar(const struct visit *visit, struct html *html, const char *class_name,
	const char *english, const char *detail)
{
	html_open(html, "p", "class", class_name, "role", "alert", HTML_END);
	page_say(visit, html, english);
	if (detail != NULL && detail[0] != '\0')
		html_textf(html, " (%s)", detail);
	html_close(html, "p");
}

static void write_bars(const struct visit *visit, struct html *html)
{
	const struct context *context = visit->context;
	const struct snapshot_figures *figures = snapshot_figures(context->snapshot);
	const struct snapshot_state *queues = &figures->parts[SNAPSHOT_PART_QUEUES];
	uint64_t age_ms = snapshot_age_ms(context->snapshot);

	if (database_away_ms(context->database) > 0)
		write_bar(visit, html, "bar bad", PHRASE("MySQL is away."),
			database_trouble(context->database));
	if (figures->number > 0 && context->settings->amqp.url != NULL && !queues->is_known)
		write_bar(visit, html, "bar bad", PHRASE("RabbitMQ is away."), queues->why);
	if (age_ms != UINT64_MAX && age_ms > FIGURES_OLD_MS)
		write_bar(visit, html, "bar bad", PHRASE("The figures are older than a minute."),
			NULL);
	if (context->settings->is_open)
		write_bar(visit, html, "bar warn",
			PHRASE("Nobody has to log in here: everybody who reaches this address is "
			       "an admin."),
			NULL);
	else if (visit->who.auth == ROLE_AUTH_BASIC && !visit->who.is_proxied)
		write_bar(visit, html, "bar warn",
			PHRASE("The password travels without TLS: put a proxy with TLS in front."),
			NULL);
	if (context->settings->read_only % 2 == 1)
		write_bar(visit, html, "bar", PHRASE("Read only: nothing can be changed here."),
			NULL);
}

static bool is_here(const struct visit *visit, const char *path)
{
	size_t size = strlen(path);

	if (size == 1)
		return text_equals(visit->path, path);
	return text_starts_with(visit->path, path) &&
	       (visit->path[size] == '\0' || visit->path[size] == '/');
}

static void write_places(const struct visit *visit, struct html *html)
{
	html_open(html, "nav", "aria-label", say(visit, PHRASE("Pages")), HTML_END);
	html_open(html, "ul", HTML_END);
	for (size_t i = 0; i < ARRAY_LENGTH(places); i++) {
		char address[CONTEXT_PREFIX_SIZE + 32];

		(void)text_format(
			address, sizeof(address), "%s%s", visit->context->prefix, places[i].path);
		html_open(html, "li", HTML_END);
		html_open(html, "a", "href", address, "aria-current",
			is_here(visit, places[i].path) ? "page" : NULL, HTML_END);
		page_say(visit, html, places[i].english);
		html_close(html, "a");
		html_close(html, "li");
	}
	html_close(html, "ul");
	html_close(html, "nav");
}

static void write_refresh(const struct visit *visit, struct html *html)
{
	html_open(html, "span", "class", "refresh", "hidden", "", HTML_END);
	html_open(html, "label", "for", "refresh", HTML_END);
	page_say(visit, html, PHRASE("Refresh"));
	html_close(html, "label");
	html_open(html, "select", "id", "refresh", HTML_END);
	html_element(html, "option", NULL, "–");
	html_element(html, "option", NULL, "10 s");
	html_element(html, "option", NULL, "30 s");
	html_element(html, "option", NULL, "60 s");
	html_close(html, "select");
	html_close(html, "span");
}

void navigation_write(const struct visit *visit, struct html *html)
{
	const char *environment = visit->context->settings->environment;
	char class_name[24];

	html_open(html, "a", "class", "skip", "href", "#main", HTML_END);
	page_say(visit, html, PHRASE("To the content"));
	html_close(html, "a");
	format_environment_class(environment, class_name);
	html_open(html, "header", HTML_END);
	html_element(html, "strong", "brand", "Lapse");
	html_element(html, "span", class_name, environment);
	if (!visit->is_welcome) {
		html_close(html, "header");
		return;
	}
	html_open(html, "span", "class", "who", HTML_END);
	html_textf(html, "%s · %s", visit->who.name, act_role_names[visit->who.role]);
	html_close(html, "span");
	write_clock(visit, html);
	write_figures_age(visit, html);
	write_refresh(visit, html);
	html_close(html, "header");
	write_places(visit, html);
	write_bars(visit, html);
}
