/*
 * browser - a real one, without a window: Chromium behind chromedriver, over WebDriver (W3C).
 *
 * Every mistake fails the test: an element that is not there, a dialog that a page has opened, a
 * violation of the content security policy.
 */
#ifndef TESTS_SUPPORT_BROWSER_H
#define TESTS_SUPPORT_BROWSER_H

#include <stdbool.h>
#include <stdint.h>

struct browser;
struct sandbox;

enum {
	BROWSER_WITH_SCRIPT = 0,
	BROWSER_WITHOUT_SCRIPT = 1,
	BROWSER_TEXT_SIZE = 16384,
};

/* For the start of main: leaves with RUNNER_SKIPPED and a message when there is no browser. */
void browser_need(void);

/* A window of its own, with its own memory of log-ins. */
void browser_create(struct sandbox *sandbox, unsigned int flags, struct browser **browser_out);
void browser_destroy(struct browser **browser);

/* Returns when the page is loaded. */
void browser_open(struct browser *browser, const char *url);
void browser_reload(struct browser *browser);
void browser_resize(struct browser *browser, unsigned int width, unsigned int height);
void browser_set_dark(struct browser *browser, bool is_dark);

/* Of the first element that a CSS selector finds. */
void browser_click(struct browser *browser, const char *selector);
void browser_type(struct browser *browser, const char *selector, const char *text);
void browser_text(struct browser *browser, const char *selector, char text_out[BROWSER_TEXT_SIZE]);
/* How many elements the selector finds. */
int64_t browser_count(struct browser *browser, const char *selector);
/* Presses one key with nothing selected. */
void browser_press(struct browser *browser, const char *key);
/* The value of an expression in the page, as text; only with script. */
void browser_evaluate(
	struct browser *browser, const char *expression, char text_out[BROWSER_TEXT_SIZE]);

/* Fails the test unless the page shows the words, or when something was blocked or opened. */
void browser_expect(struct browser *browser, const char *words);
/* A picture of the page as PNG into the folder of TEST_IMAGES, else into scratch. */
void browser_shoot(struct browser *browser, const char *name);

#endif
