#include "tests/support/browser.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <check.h>

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/base/ulid.h"
#include "common/io/json.h"
#include "tests/support/api_client.h"
#include "tests/support/http_client.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"
#include "tests/support/scratch.h"
#include "tests/support/wait_until.h"

enum {
	PATH_SIZE = 256,
	BODY_SIZE = 8192,
	ID_SIZE = 128,
	LIMIT_MS = 60000,
	FIND_MS = 15000,
	PROBE_MS = 1000,
};

static const char driver[] = "/usr/bin/chromedriver";
static const char chromium[] = "/usr/bin/chromium";
static const char element_key[] = "element-6066-11e4-a52e-4f735466cecf";

struct browser {
	struct api_client *client;
	uint16_t port;
	char session[ID_SIZE];
	struct json *answer; /* of the last command */
};

void browser_need(void)
{
	if (access(driver, X_OK) == 0 && access(chromium, X_OK) == 0)
		return;
	(void)printf("skipped: no browser; run scripts/setup\n");
	exit(RUNNER_SKIPPED);
}

/* path is behind /session/<id>; what the driver answers is kept until the next command.  false: it
 * says no, and the answer says why. */
static bool try_command(
	struct browser *browser, const char *method, const char *path, const char *body)
{
	char whole[PATH_SIZE * 2];
	struct error error = { .text = "" };

	(void)text_format(whole, sizeof(whole), "/session%s%s%s",
		browser->session[0] == '\0' ? "" : "/", browser->session, path);
	const struct api_answer *answer = api_client_call(
		browser->client, &(struct api_request){ .method = method,
					 .path = whole,
					 .headers = "Content-Type: application/json\r\n",
					 .body = body });
	json_destroy(&browser->answer);
	ck_assert_msg(json_parse(answer->body, strlen(answer->body), API_CLIENT_BODY_SIZE,
			      &browser->answer, &error) == RESULT_OK,
		"%s %s: %u %s", method, path, answer->status, error.text);
	return answer->status == 200;
}

static const struct json *command(
	struct browser *browser, const char *method, const char *path, const char *body)
{
	bool is_done = try_command(browser, method, path, body);
	const struct json *value = json_get(browser->answer, "value");

	ck_assert_msg(is_done, "%s %s %.500s: %.500s", method, path, body == NULL ? "" : body,
		json_get_text(value, "message"));
	return value;
}

static const struct json *command_with(
	struct browser *browser, const char *path, struct json **body_adopt)
{
	char *text = json_write(*body_adopt);
	const struct json *value = command(browser, "POST", path, text);

	free(text);
	json_destroy(body_adopt);
	return value;
}

static bool is_driver_up(void *context)
{
	const uint16_t *port = context;

	return http_client_get(*port, "/status", PROBE_MS, NULL) == 200;
}

static void start_driver(struct sandbox *sandbox, struct browser *browser)
{
	char port[32];
	const char *const words[] = { port, "--silent", NULL };

	browser->port = sandbox_free_port();
	(void)text_format(port, sizeof(port), "--port=%u", browser->port);
	sandbox_set(sandbox, "HOME", "%s", scratch_folder());
	sandbox_set(sandbox, "TMPDIR", "%s", scratch_folder());
	(void)sandbox_start(sandbox, driver, words);
	WAIT_UNTIL(is_driver_up, &browser->port);
}

void browser_create(struct sandbox *sandbox, unsigned int flags, struct browser **browser_out)
{
	struct browser *browser = memory_allocate(sizeof(*browser));
	char body[BODY_SIZE];
	char profile[ULID_SIZE];

	start_driver(sandbox, browser);
	api_client_create(browser->port, &browser->client);
	api_client_set_limit(browser->client, LIMIT_MS);
	ulid_generate(profile);
	(void)text_format(body, sizeof(body),
		"{\"capabilities\":{\"alwaysMatch\":{\"browserName\":\"chrome\","
		"\"goog:loggingPrefs\":{\"browser\":\"ALL\"},"
		"\"goog:chromeOptions\":{\"binary\":\"%s\",\"args\":[\"--headless=new\","
		"\"--no-sandbox\",\"--disable-gpu\",\"--hide-scrollbars\","
		"\"--disable-dev-shm-usage\","
		"\"--window-size=1280,900\",\"--lang=en\",\"--user-data-dir=%s/%s\"],"
		"\"prefs\":{\"profile.managed_default_content_settings.javascript\":%d}}}}}",
		chromium, scratch_folder(), profile, flags == BROWSER_WITHOUT_SCRIPT ? 2 : 1);
	const struct json *value = command(browser, "POST", "", body);
	ck_assert(text_copy(
		browser->session, sizeof(browser->session), json_get_text(value, "sessionId")));
	*browser_out = browser;
}

void browser_destroy(struct browser **browser)
{
	if (*browser == NULL)
		return;
	(void)command(*browser, "DELETE", "", NULL);
	json_destroy(&(*browser)->answer);
	api_client_destroy(&(*browser)->client);
	free(*browser);
	*browser = NULL;
}

void browser_open(struct browser *browser, const char *url)
{
	struct json *body = json_create_object();

	json_set_text(body, "url", url);
	(void)command_with(browser, "/url", &body);
}

void browser_reload(struct browser *browser)
{
	(void)command(browser, "POST", "/refresh", "{}");
}

/* A command of the DevTools; parameters as JSON. */
static void tell(struct browser *browser, const char *name, const char *parameters)
{
	char body[BODY_SIZE];

	(void)text_format(body, sizeof(body), "{\"cmd\":\"%s\",\"params\":%s}", name, parameters);
	(void)command(browser, "POST", "/goog/cdp/execute", body);
}

void browser_resize(struct browser *browser, unsigned int width, unsigned int height)
{
	char parameters[PATH_SIZE];

	(void)text_format(parameters, sizeof(parameters),
		"{\"width\":%u,\"height\":%u,\"deviceScaleFactor\":1,\"mobile\":false}", width,
		height);
	tell(browser, "Emulation.setDeviceMetricsOverride", parameters);
}

void browser_set_dark(struct browser *browser, bool is_dark)
{
	char parameters[PATH_SIZE];

	(void)text_format(parameters, sizeof(parameters),
		"{\"features\":[{\"name\":\"prefers-color-scheme\",\"value\":\"%s\"}]}",
		is_dark ? "dark" : "light");
	tell(browser, "Emulation.setEmulatedMedia", parameters);
}

/* An element that is looked for until it is there, since a click may just have led to a page. */
struct search {
	struct browser *browser;
	const char *selector;
	const char *ending; /* of the path of what is done with it */
	const char *method;
	const char *body;
};

static bool find_and_do(void *context)
{
	const struct search *search = context;
	struct json *body = json_create_object();
	char id[ID_SIZE];
	char path[PATH_SIZE];

	json_set_text(body, "using", "css selector");
	json_set_text(body, "value", search->selector);
	char *text = json_write(body);
	json_destroy(&body);
	bool is_there = try_command(search->browser, "POST", "/element", text);
	free(text);
	if (!is_there)
		return false;
	ck_assert(text_copy(id, sizeof(id),
		json_get_text(json_get(search->browser->answer, "value"), element_key)));
	(void)text_format(path, sizeof(path), "/element/%s/%s", id, search->ending);
	return try_command(search->browser, search->method, path, search->body);
}

static void do_with(const struct search *search)
{
	struct search own = *search;

	ck_assert_msg(wait_until(find_and_do, &own, FIND_MS), "%s %s: %.500s", search->selector,
		search->ending,
		json_get_text(json_get(search->browser->answer, "value"), "message"));
}

int64_t browser_count(struct browser *browser, const char *selector)
{
	struct json *body = json_create_object();

	json_set_text(body, "using", "css selector");
	json_set_text(body, "value", selector);
	return (int64_t)json_count(command_with(browser, "/elements", &body));
}

void browser_click(struct browser *browser, const char *selector)
{
	do_with(&(struct search){ browser, selector, "click", "POST", "{}" });
}

void browser_type(struct browser *browser, const char *selector, const char *text)
{
	struct json *body = json_create_object();

	json_set_text(body, "text", text);
	char *words = json_write(body);
	json_destroy(&body);
	do_with(&(struct search){ browser, selector, "value", "POST", words });
	free(words);
}

void browser_text(struct browser *browser, const char *selector, char text_out[BROWSER_TEXT_SIZE])
{
	do_with(&(struct search){ browser, selector, "text", "GET", NULL });
	(void)text_copy(text_out, BROWSER_TEXT_SIZE, json_get_text(browser->answer, "value"));
}

void browser_press(struct browser *browser, const char *key)
{
	char body[BODY_SIZE];

	(void)text_format(body, sizeof(body),
		"{\"actions\":[{\"type\":\"key\",\"id\":\"keyboard\",\"actions\":["
		"{\"type\":\"keyDown\",\"value\":\"%s\"},{\"type\":\"keyUp\",\"value\":\"%s\"}]}]}",
		key, key);
	(void)command(browser, "POST", "/actions", body);
}

void browser_evaluate(
	struct browser *browser, const char *expression, char text_out[BROWSER_TEXT_SIZE])
{
	struct json *body = json_create_object();
	struct json *none = json_create_array();
	char script[BODY_SIZE];

	(void)text_format(script, sizeof(script), "return String(%s);", expression);
	json_set_text(body, "script", script);
	json_adopt(body, "args", &none);
	(void)command_with(browser, "/execute/sync", &body);
	(void)text_copy(text_out, BROWSER_TEXT_SIZE, json_get_text(browser->answer, "value"));
}

/* What the browser has logged since the last look; a page that asks for a log-in is no trouble. */
static void expect_nothing_blocked(struct browser *browser)
{
	const struct json *lines = command(browser, "POST", "/se/log", "{\"type\":\"browser\"}");

	for (size_t i = 0; i < json_count(lines); i++) {
		const char *words = json_get_text(json_at(lines, i), "message");

		ck_assert_msg(strstr(words, "Failed to load resource") != NULL, "%s", words);
	}
}

/* Words that a page shows, sooner or later. */
struct wish {
	struct browser *browser;
	const char *words;
	char text[BROWSER_TEXT_SIZE];
};

static bool is_shown(void *context)
{
	struct wish *wish = context;

	browser_text(wish->browser, "body", wish->text);
	return strstr(wish->text, wish->words) != NULL;
}

void browser_expect(struct browser *browser, const char *words)
{
	struct wish wish = { .browser = browser, .words = words };

	ck_assert_msg(wait_until(is_shown, &wish, FIND_MS), "\"%s\" is not in: %.3000s", words,
		wish.text);
	expect_nothing_blocked(browser);
}

static int value_of(char digit)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *place = strchr(digits, digit);

	return digit == '\0' || place == NULL ? -1 : (int)(place - digits);
}

static void write_decoded(FILE *file, const char *text)
{
	unsigned int bits = 0;
	unsigned int count = 0;

	for (; value_of(*text) >= 0; text++) {
		bits = (bits << 6) | (unsigned int)value_of(*text);
		count += 6;
		if (count < 8)
			continue;
		count -= 8;
		(void)fputc((int)((bits >> count) & 0xff), file);
	}
}

void browser_shoot(struct browser *browser, const char *name)
{
	const char *folder = getenv("TEST_IMAGES");
	char path[PATH_MAX];

	(void)command(browser, "GET", "/screenshot", NULL);
	(void)text_format(
		path, sizeof(path), "%s/%s.png", folder == NULL ? scratch_folder() : folder, name);
	FILE *file = fopen(path, "wbe");
	ck_assert_msg(file != NULL, "%s cannot be written", path);
	write_decoded(file, json_get_text(browser->answer, "value"));
	ck_assert_int_eq(fclose(file), 0);
}
