#include "console/page.h"

#include <string.h>

#include "common/base/text.h"
#include "common/base/ulid.h"
#include "common/service/database.h"
#include "console/buffer.h"
#include "console/csrf.h"
#include "console/flash.h"
#include "console/instant.h"
#include "console/navigation.h"
#include "console/respond.h"
#include "console/settings.h"

enum {
	FILLED_SIZE = 1024,
	NAME_SIZE = 64,
	PATH_SIZE = 1024,
};

void page_say(const struct visit *visit, struct html *html, const char *english)
{
	html_text(html, say(visit, english));
}

void page_fill(const struct visit *visit, struct html *html, const char *english, const char *first,
	const char *second)
{
	char text[FILLED_SIZE];

	phrase_fill(text, sizeof(text), say(visit, english), first, second);
	html_text(html, text);
}

void page_element(const struct visit *visit, struct html *html, const char *tag,
	const char *class_name, const char *english)
{
	html_element(html, tag, class_name, say(visit, english));
}

/* Units that stand beside each value. */
static size_t size_without_unit(const char *name)
{
	static const char *const units[] = { "_ms", "_seconds", "_s" };
	size_t size = strlen(name);

	for (size_t i = 0; i < ARRAY_LENGTH(units); i++)
		if (size > strlen(units[i]) &&
			text_equals(name + size - strlen(units[i]), units[i]))
			return size - strlen(units[i]);
	return size;
}

void page_name(const struct visit *visit, struct html *html, const char *name)
{
	const char *text = say(visit, name);
	char plain[NAME_SIZE];

	(void)text_format(plain, sizeof(plain), "%.*s", (int)size_without_unit(text), text);
	for (char *place = plain; *place != '\0'; place++)
		if (*place == '_')
			*place = ' ';
	html_text(html, plain);
}

void page_link(const struct visit *visit, struct html *html, const char *path, const char *text)
{
	struct buffer address = { .text = NULL };

	buffer_add_text(&address, visit->context->prefix);
	buffer_add_text(&address, path);
	html_link(html, buffer_text(&address), text);
	buffer_clear(&address);
}

void page_link_to(const struct visit *visit, struct html *html, const char *folder,
	const char *name, const char *text)
{
	struct buffer path = { .text = NULL };

	buffer_add_text(&path, folder);
	buffer_add_encoded(&path, name);
	page_link(visit, html, buffer_text(&path), text);
	buffer_clear(&path);
}

void page_time(const struct visit *visit, struct html *html, const char *time)
{
	int64_t then_ms = 0;
	int64_t now_ms = 0;

	if (time == NULL || time[0] == '\0') {
		html_text(html, "–");
		return;
	}
	html_open(html, "time", "datetime", time, HTML_END);
	html_text(html, time);
	html_close(html, "time");
	if (!text_parse_time(time, &then_ms) || !instant_now(visit->context->database, &now_ms))
		return;
	char length[INSTANT_DURATION_SIZE];
	bool is_past = then_ms <= now_ms;
	instant_format_duration((uint64_t)(is_past ? now_ms - then_ms : then_ms - now_ms), length);
	html_text(html, " ");
	html_open(html, "small", HTML_END);
	page_fill(visit, html, is_past ? PHRASE("{1} ago") : PHRASE("in {1}"), length, NULL);
	html_close(html, "small");
}

void page_table_head(
	const struct visit *visit, struct html *html, const char *const *names, size_t count)
{
	html_open(html, "thead", HTML_END);
	html_open(html, "tr", HTML_END);
	for (size_t i = 0; i < count; i++) {
		html_open(html, "th", "scope", "col", HTML_END);
		page_say(visit, html, names[i]);
		html_close(html, "th");
	}
	html_close(html, "tr");
	html_close(html, "thead");
}

void page_empty(struct html *html, const char *class_name, const char *words, const char *proof)
{
	html_open(html, "div", "class", class_name, "role", "status", HTML_END);
	html_element(html, "p", NULL, words);
	if (proof != NULL && proof[0] != '\0')
		html_element(html, "p", "detail", proof);
	html_close(html, "div");
}

void page_hidden(struct html *html, const char *name, const char *value)
{
	html_void(html, "input", "type", "hidden", "name", name, "value", value, HTML_END);
}

void page_form(const struct visit *visit, struct html *html, const char *path)
{
	char action[PATH_SIZE];
	char token[CSRF_TOKEN_SIZE];
	char request_id[ULID_SIZE];

	(void)text_format(action, sizeof(action), "%s%s", visit->context->prefix, path);
	html_open(html, "form", "method", "post", "action", action, "class", "act", HTML_END);
	csrf_make_token(token, visit->context->secret, visit->who.name, path, csrf_hour_now());
	ulid_generate(request_id);
	page_hidden(html, "csrf", token);
	page_hidden(html, "request_id", request_id);
}

void page_form_end(
	const struct visit *visit, struct html *html, const char *class_name, const char *english)
{
	html_open(html, "p", HTML_END);
	html_open(html, "button", "type", "submit", "class", class_name, HTML_END);
	page_say(visit, html, english);
	html_close(html, "button");
	html_close(html, "p");
	html_close(html, "form");
}

void page_field(const struct visit *visit, struct html *html, const char *name, const char *english,
	const char *value, const char *hint)
{
	html_open(html, "label", HTML_END);
	html_open(html, "span", HTML_END);
	page_name(visit, html, english);
	html_close(html, "span");
	html_void(html, "input", "name", name, "value", value, "placeholder", hint, "maxlength",
		"500", "autocomplete", "off", HTML_END);
	html_close(html, "label");
}

void page_choice(const struct visit *visit, struct html *html, const char *name,
	const char *english, const char *const *words, const char *chosen)
{
	html_open(html, "label", HTML_END);
	html_open(html, "span", HTML_END);
	page_name(visit, html, english);
	html_close(html, "span");
	html_open(html, "select", "name", name, HTML_END);
	html_open(html, "option", "value", "", HTML_END);
	html_text(html, "–");
	html_close(html, "option");
	for (size_t i = 0; words[i] != NULL; i++) {
		bool is_chosen = chosen != NULL && text_equals(words[i], chosen);

		html_open(html, "option", "value", words[i], "selected", is_chosen ? "" : NULL,
			HTML_END);
		html_text(html, words[i]);
		html_close(html, "option");
	}
	html_close(html, "select");
	html_close(html, "label");
}

struct html *page_begin(struct visit *visit, const char *title)
{
	const char *environment = visit->context->settings->environment;
	char address[PATH_SIZE];
	struct html *html = NULL;

	html_create(&html);
	html_open(html, "html", "lang", language_names[visit->context->language], HTML_END);
	html_open(html, "head", HTML_END);
	html_void(html, "meta", "charset", "utf-8", HTML_END);
	html_void(html, "meta", "name", "viewport", "content",
		"width=device-width, initial-scale=1", HTML_END);
	html_void(html, "meta", "name", "color-scheme", "content", "light dark", HTML_END);
	html_open(html, "title", HTML_END);
	html_textf(html, "%s · %s · Lapse", say(visit, title), environment);
	html_close(html, "title");
	(void)text_format(address, sizeof(address), "%s/console.css", visit->context->prefix);
	html_void(html, "link", "rel", "stylesheet", "href", address, HTML_END);
	(void)text_format(address, sizeof(address), "%s/console.svg", visit->context->prefix);
	html_void(html, "link", "rel", "icon", "href", address, HTML_END);
	(void)text_format(address, sizeof(address), "%s/console.js", visit->context->prefix);
	html_open(html, "script", "src", address, "defer", "", HTML_END);
	html_close(html, "script");
	html_close(html, "head");
	html_open(html, "body", HTML_END);
	navigation_write(visit, html);
	html_open(html, "main", "id", "main", HTML_END);
	flash_write(visit, html);
	html_element(html, "h1", NULL, say(visit, title));
	return html;
}

void page_end(struct visit *visit, unsigned int status, struct html **html)
{
	size_t size = 0;
	char *text = html_finish(html, &size);

	respond_text(visit, status, "text/html; charset=utf-8", text, size);
}
