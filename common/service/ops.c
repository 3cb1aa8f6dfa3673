#include "common/service/ops.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/io/endpoint.h"
#include "common/io/httpd.h"
#include "common/service/metrics.h"
#include "common/service/process_metrics.h"

enum {
	STEP_WAIT_MS = 200, /* also how long a stop may take */
	WATCH_INTERVAL_MS = 1000,
	WATCH_SILENT_MAX = 120,
	LIVE_WITHIN_MS = 30000,
	CONNECTION_MAX = 128,
	BODY_MAX = 1024,
	TIME_LIMIT_MS = 5000,
	PROBE_LIMIT_MS = 2500,
	STACK_BYTES = 262144,
	WORDS = OPS_CHECK_TEXT_SIZE / sizeof(uint64_t),
	COPY_ATTEMPTS = 100,
	ANSWER_SIZE = 512 + OPS_CHECK_MAX * (OPS_CHECK_TEXT_SIZE + 64),
};

/*
 * Written by the loop, read by the thread.  version is odd while the words of the text change; a
 * reader that saw the same even version before and after has a whole text.
 */
struct check {
	const char *name;
	atomic_bool is_well;
	_Atomic uint32_t version;
	_Atomic uint64_t words[WORDS];
};

static struct {
	struct check checks[OPS_CHECK_MAX];
	size_t check_count;
	atomic_bool is_draining;
	_Atomic uint64_t turns;
	_Atomic uint64_t last_turn_ms;
	_Atomic uint64_t scrape_ms; /* 0: never */
	void (*dump)(void);
	atomic_bool is_stopping;
	bool is_running;
	pthread_t thread;
	struct httpd *httpd; /* the thread's while it runs */
	uint16_t port;
	const char *program;
	const char *version;
} ops;

static struct check *find_check(const char *name)
{
	for (size_t i = 0; i < ops.check_count; i++)
		if (text_equals(ops.checks[i].name, name))
			return &ops.checks[i];
	return NULL;
}

static void write_text(struct check *check, const char *text)
{
	uint64_t words[WORDS] = { 0 };

	(void)text_clip((char *)words, sizeof(words), text, strlen(text));
	atomic_fetch_add(&check->version, 1);
	for (size_t i = 0; i < WORDS; i++)
		atomic_store(&check->words[i], words[i]);
	atomic_fetch_add(&check->version, 1);
}

/* Gives up after a while: a mixed text is better than a thread that waits for the loop. */
static void read_text(const struct check *check, char text[OPS_CHECK_TEXT_SIZE])
{
	uint64_t words[WORDS];

	for (int i = 0; i < COPY_ATTEMPTS; i++) {
		uint32_t before = atomic_load(&check->version);

		for (size_t k = 0; k < WORDS; k++)
			words[k] = atomic_load(&check->words[k]);
		if (before % 2 == 0 && atomic_load(&check->version) == before)
			break;
	}
	(void)text_clip(text, OPS_CHECK_TEXT_SIZE, words, strnlen((char *)words, sizeof(words)));
}

void ops_add_check(const char *name)
{
	REQUIRE(!ops.is_running && ops.check_count < OPS_CHECK_MAX);
	struct check *check = &ops.checks[ops.check_count++];

	check->name = name;
	atomic_store(&check->is_well, false);
	write_text(check, "not yet");
}

void ops_set_check(const char *name, bool is_well, const char *text)
{
	struct check *check = find_check(name);

	if (check == NULL)
		return;
	write_text(check, text == NULL ? "" : text);
	atomic_store(&check->is_well, is_well);
}

bool ops_is_check_well(const char *name)
{
	const struct check *check = find_check(name);

	return check != NULL && atomic_load(&check->is_well);
}

void ops_set_draining(void)
{
	atomic_store(&ops.is_draining, true);
}

void ops_set_last_words(void (*dump)(void))
{
	REQUIRE(!ops.is_running);
	ops.dump = dump;
}

void ops_note_turn(void)
{
	atomic_fetch_add(&ops.turns, 1);
	atomic_store(&ops.last_turn_ms, clock_now_ms());
}

bool ops_is_ready(void)
{
	bool is_ready = !atomic_load(&ops.is_draining);

	for (size_t i = 0; i < ops.check_count; i++)
		is_ready = is_ready && atomic_load(&ops.checks[i].is_well);
	return is_ready;
}

static void set_text(struct httpd_answer *answer, unsigned int status, const char *text)
{
	answer->status = status;
	answer->body_adopt = memory_copy_text(text);
	answer->body_size = strlen(text);
}

static void answer_livez(
	void *context, const struct httpd_request *request, struct httpd_answer *answer)
{
	uint64_t last_ms = atomic_load(&ops.last_turn_ms);
	uint64_t now_ms = clock_now_ms();
	char text[64];

	(void)context;
	(void)request;
	/* The loop may have turned after our look at the clock. */
	uint64_t silent_ms = now_ms > last_ms ? now_ms - last_ms : 0;
	if (silent_ms <= LIVE_WITHIN_MS) {
		set_text(answer, 200, "ok\n");
		return;
	}
	(void)text_format(text, sizeof(text), "the loop has not turned for %u s\n",
		(unsigned int)(silent_ms / 1000));
	set_text(answer, 503, text);
}

static void append_line(
	char text[ANSWER_SIZE], const char *sign, const char *name, const char *words)
{
	size_t length = strlen(text);

	(void)text_format(text + length, ANSWER_SIZE - length, "[%s]%s%s%s\n", sign, name,
		words[0] == '\0' ? "" : ": ", words);
}

/* Only the status is for machines. */
static void append_checks(char text[ANSWER_SIZE], bool also_well)
{
	char words[OPS_CHECK_TEXT_SIZE];

	for (size_t i = 0; i < ops.check_count; i++) {
		bool is_well = atomic_load(&ops.checks[i].is_well);

		if (is_well && !also_well)
			continue;
		read_text(&ops.checks[i], words);
		append_line(text, is_well ? "+" : "-", ops.checks[i].name, words);
	}
	if (atomic_load(&ops.is_draining))
		append_line(text, "-", "draining", "asked to stop");
}

static void answer_readyz(
	void *context, const struct httpd_request *request, struct httpd_answer *answer)
{
	bool is_ready = ops_is_ready();
	bool is_verbose = httpd_query(request, "verbose") != NULL;
	char text[ANSWER_SIZE] = "";

	(void)context;
	if (is_verbose)
		(void)text_format(text, sizeof(text), "%s %s\n", ops.program, ops.version);
	append_checks(text, is_verbose);
	size_t length = strlen(text);
	(void)text_copy(text + length, sizeof(text) - length, is_ready ? "ok\n" : "not ready\n");
	set_text(answer, is_ready ? 200 : 503, text);
}

static void answer_metrics(
	void *context, const struct httpd_request *request, struct httpd_answer *answer)
{
	(void)context;
	(void)request;
	atomic_store(&ops.scrape_ms, clock_now_ms());
	process_metrics_update();
	answer->status = 200;
	answer->content_type = "text/plain; version=0.0.4; charset=utf-8";
	answer->body_adopt = metrics_write(&answer->body_size);
}

static const struct httpd_route routes[] = {
	{ "GET", "/livez", answer_livez },
	{ "GET", "/readyz", answer_readyz },
	{ "GET", "/metrics", answer_metrics },
	{ NULL, NULL, NULL },
};

NO_RETURN static void end_process(void)
{
	char text[ANSWER_SIZE] = "";

	append_checks(text, true);
	log_error(log_event("loop_stuck"), log_uint("silent_checks", WATCH_SILENT_MAX),
		log_uint("turns", atomic_load(&ops.turns)), log_text("checks", text));
	if (ops.dump != NULL)
		ops.dump();
	_exit(EXIT_STATUS_BUG);
}

/* Counts checks, not seconds: a paused process makes none. */
static void watch(uint64_t *next_ms, uint64_t *seen_turns, unsigned int *silent)
{
	uint64_t now_ms = clock_now_ms();
	uint64_t turns = atomic_load(&ops.turns);

	if (now_ms < *next_ms)
		return;
	*next_ms = now_ms + WATCH_INTERVAL_MS;
	*silent = turns == *seen_turns ? *silent + 1 : 0;
	*seen_turns = turns;
	if (*silent >= WATCH_SILENT_MAX)
		end_process();
}

static void *run(void *context)
{
	uint64_t next_ms = 0;
	uint64_t seen_turns = 0;
	unsigned int silent = 0;

	(void)context;
	while (!atomic_load(&ops.is_stopping)) {
		if (ops.httpd != NULL)
			httpd_step(ops.httpd, STEP_WAIT_MS);
		else
			clock_wait_ms(STEP_WAIT_MS);
		watch(&next_ms, &seen_turns, &silent);
	}
	return NULL;
}

/* With all signals blocked, so that a signal ends the loop's wait and not the thread's. */
static int start_thread(void)
{
	pthread_attr_t attributes;
	sigset_t all;
	sigset_t before;

	(void)sigfillset(&all);
	(void)pthread_attr_init(&attributes);
	(void)pthread_attr_setstacksize(&attributes, STACK_BYTES);
	(void)pthread_sigmask(SIG_BLOCK, &all, &before);
	int status = pthread_create(&ops.thread, &attributes, run, NULL);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	(void)pthread_attr_destroy(&attributes);
	return status;
}

enum result ops_start(
	const char *address, const char *program, const char *version, struct error *error)
{
	const struct httpd_settings settings = { .address = address,
		.routes = routes,
		.body_max = BODY_MAX,
		.connection_max = CONNECTION_MAX,
		.time_limit_ms = TIME_LIMIT_MS };

	ops.program = program;
	ops.version = version;
	ops_note_turn();
	if (address != NULL) {
		enum result result = httpd_create(&settings, &ops.httpd, error);

		if (result != RESULT_OK)
			return error_context(result, error, "ops port");
		ops.port = httpd_port(ops.httpd);
	}
	if (start_thread() != 0) {
		httpd_destroy(&ops.httpd);
		return error_set(RESULT_PERMANENT, error, "ops port: no thread");
	}
	ops.is_running = true;
	return RESULT_OK;
}

void ops_stop(void)
{
	atomic_store(&ops.is_stopping, true);
	if (ops.is_running)
		(void)pthread_join(ops.thread, NULL);
	httpd_destroy(&ops.httpd);
	ops.is_running = false;
	ops.port = 0;
	ops.check_count = 0;
	atomic_store(&ops.is_stopping, false);
	atomic_store(&ops.is_draining, false);
}

uint64_t ops_scrape_age_ms(void)
{
	uint64_t scrape_ms = atomic_load(&ops.scrape_ms);
	uint64_t now_ms = clock_now_ms();

	if (scrape_ms == 0)
		return UINT64_MAX;
	return now_ms > scrape_ms ? now_ms - scrape_ms : 0;
}

uint16_t ops_port(void)
{
	return ops.port;
}

int ops_healthcheck(const char *address, bool only_live)
{
	const char *path = only_live ? "/livez" : "/readyz";
	struct error error = { 0 };
	unsigned int status = 0;

	if (address == NULL) {
		(void)fputs("healthcheck: LAPSE_OPS_ADDR is not set\n", stderr);
		return EXIT_STATUS_FAILED;
	}
	if (endpoint_probe(address, path, PROBE_LIMIT_MS, &status, &error) != RESULT_OK) {
		(void)fprintf(stderr, "healthcheck: %s\n", error.text);
		return EXIT_STATUS_FAILED;
	}
	if (status == 200)
		return EXIT_STATUS_OK;
	(void)fprintf(stderr, "healthcheck: %s says %u\n", path, status);
	return EXIT_STATUS_FAILED;
}
