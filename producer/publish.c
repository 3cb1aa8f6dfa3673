#include "producer/publish.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/base/shutdown.h"
#include "common/base/ulid.h"
#include "common/base/window.h"
#include "common/order/order.h"
#include "common/order/timeout_message.h"
#include "producer/line.h"
#include "producer/lines.h"

enum {
	BATCH_MAX = 500,
	CONFIRM_LIMIT_MS = 10000,
	LINE_WAIT_MS = 1000, /* for the first line of a batch, again and again */
	LINGER_MS = 20,      /* for the next ones */
	SHOWN_SIZE = 80,
};

struct publish {
	const struct producer_settings *settings;
	struct db *db;
	struct line *line;
	struct lines *lines;
	struct window *window; /* messages without a confirm */
	uint64_t settled[BATCH_MAX];
	struct order_deadline orders[BATCH_MAX];
	size_t count;
	size_t next_argument;
	uint64_t armed;
	uint64_t final; /* nothing to arm: paid, closed or without a deadline */
	uint64_t not_found;
	uint64_t malformed;
};

static void refuse(struct publish *publish, const char *shown)
{
	publish->malformed++;
	(void)fprintf(stderr, "no order number: %s\n", shown);
}

static void take_words(struct publish *publish)
{
	const struct producer_publish *wish = &publish->settings->publish;

	while (publish->next_argument < wish->count && publish->count < BATCH_MAX) {
		const char *word = wish->order_nos[publish->next_argument++];
		char shown[SHOWN_SIZE];

		if (lines_read_order_no(
			    word, strlen(word), publish->orders[publish->count].order_no)) {
			publish->count++;
			continue;
		}
		(void)text_clip(shown, sizeof(shown), word, strlen(word));
		refuse(publish, shown);
	}
}

/* Waits for the first line as long as it takes, and serves the broker meanwhile. */
static void take_lines(struct publish *publish)
{
	struct error error = { .text = "" };

	while (publish->count < BATCH_MAX && !shutdown_is_requested()) {
		char *order_no = publish->orders[publish->count].order_no;

		switch (lines_next(
			publish->lines, publish->count > 0 ? LINGER_MS : LINE_WAIT_MS, order_no)) {
		case LINES_ORDER:
			publish->count++;
			break;
		case LINES_MALFORMED:
			refuse(publish, lines_shown(publish->lines));
			break;
		case LINES_NONE:
			if (publish->count > 0)
				return;
			/* A connection that is lost here is built again for the next batch. */
			(void)!broker_keep_alive(line_broker(publish->line), &error);
			break;
		case LINES_END:
			return;
		}
	}
}

/* false: there are no more. */
static bool fill_batch(struct publish *publish)
{
	publish->count = 0;
	take_words(publish);
	if (publish->count == 0 && publish->settings->publish.reads_stdin)
		take_lines(publish);
	return publish->count > 0;
}

static enum result publish_order(
	struct publish *publish, const struct order_deadline *order, struct error *error)
{
	char body[TIMEOUT_MESSAGE_SIZE];
	char message_id[ULID_SIZE];
	struct broker_message message = {
		.type = TIMEOUT_MESSAGE_TYPE,
		.content_type = TIMEOUT_MESSAGE_CONTENT_TYPE,
		.message_id = message_id,
		.has_due = true,
		.due_ms = order->due_ms,
	};
	uint64_t number = 0;

	ulid_generate(message_id);
	topology_route(line_topology(publish->line), order->remaining_ms, &message);
	message.body = body;
	message.body_size = timeout_message_write(body, order->order_no);
	enum result result = broker_publish(line_broker(publish->line), &message, &number, error);
	if (result == RESULT_OK)
		window_add(publish->window, number, 0);
	return result;
}

static enum result await_confirms(struct publish *publish, struct error *error)
{
	uint64_t end_ms = clock_now_ms() + CONFIRM_LIMIT_MS;
	struct broker_event event;

	while (window_count(publish->window) > 0) {
		uint64_t now_ms = clock_now_ms();
		enum result result = now_ms >= end_ms ? RESULT_NONE
						      : broker_next(line_broker(publish->line),
								end_ms - now_ms, &event, error);

		if (result == RESULT_NONE)
			return error_set(RESULT_TEMPORARY, error, "no confirm from the broker");
		if (result != RESULT_OK)
			return result;
		if (event.kind == BROKER_EVENT_RETURNED ||
			(event.kind == BROKER_EVENT_CONFIRM && !event.is_positive))
			return error_set(
				RESULT_TEMPORARY, error, "the broker did not take a message");
		if (event.kind == BROKER_EVENT_CONFIRM)
			publish->armed += window_settle(
				publish->window, event.number, event.is_multiple, publish->settled);
	}
	return RESULT_OK;
}

static enum result publish_batch(struct publish *publish, struct error *error)
{
	enum result result =
		order_read_deadlines(publish->db, publish->orders, publish->count, error);

	for (size_t i = 0; i < publish->count && result == RESULT_OK; i++) {
		const struct order_deadline *order = &publish->orders[i];

		if (order->state == ORDER_STATE_ABSENT) {
			publish->not_found++;
			(void)fprintf(stderr, "not found: %s\n", order->order_no);
		} else if (order->state == ORDER_STATE_FINAL || !order->has_deadline) {
			publish->final++;
		} else {
			result = publish_order(publish, order, error);
		}
	}
	return result == RESULT_OK ? await_confirms(publish, error) : result;
}

static enum result ensure_connected(struct publish *publish, struct error *error)
{
	bool has_reconnected = false;
	enum result result = db_ensure_connected(publish->db, error);

	if (result == RESULT_OK)
		result = line_ensure(publish->line, &has_reconnected, error);
	if (result == RESULT_OK &&
		topology_mode(line_topology(publish->line)) == TOPOLOGY_MODE_NONE)
		result = error_set(RESULT_PERMANENT, error, "LAPSE_DELAY is none");
	return result;
}

static enum result publish_all(struct publish *publish, struct error *error)
{
	enum result result = ensure_connected(publish, error);

	while (result == RESULT_OK && fill_batch(publish)) {
		result = ensure_connected(publish, error);
		if (result == RESULT_OK)
			result = publish_batch(publish, error);
		if (isatty(STDERR_FILENO) != 0)
			(void)fprintf(stderr, "\r%" PRIu64 " armed ", publish->armed);
	}
	if (isatty(STDERR_FILENO) != 0)
		(void)fputc('\n', stderr);
	return result;
}

int publish_run(const struct producer_settings *settings)
{
	struct publish *publish = NULL;
	struct error error = { .text = "" };
	int status = EXIT_STATUS_OK;

	if (settings->publish.count == 0 && !settings->publish.reads_stdin) {
		(void)fputs("publish: name orders, or say --stdin\n", stderr);
		return EXIT_STATUS_USAGE;
	}
	publish = memory_allocate(sizeof(*publish));
	publish->settings = settings;
	db_create(&settings->mysql, &publish->db);
	line_create(settings, &publish->line);
	lines_create(STDIN_FILENO, &publish->lines);
	window_create(BATCH_MAX, &publish->window);
	enum result result = publish_all(publish, &error);
	(void)printf("armed=%" PRIu64 " final=%" PRIu64 " not_found=%" PRIu64 " malformed=%" PRIu64
		     "\n",
		publish->armed, publish->final, publish->not_found, publish->malformed);
	if (result != RESULT_OK) {
		(void)fprintf(stderr, "publish: %s\n", error.text);
		status = result == RESULT_PERMANENT ? EXIT_STATUS_FAILED : EXIT_STATUS_TRY_AGAIN;
	} else if (shutdown_is_requested()) {
		status = EXIT_STATUS_TRY_AGAIN; /* there may have been more */
	} else if (publish->malformed > 0) {
		status = EXIT_STATUS_FAILED;
	} else if (publish->not_found > 0) {
		status = EXIT_STATUS_NOT_FOUND;
	}
	line_destroy(&publish->line);
	lines_destroy(&publish->lines);
	window_destroy(&publish->window);
	db_destroy(&publish->db);
	free(publish);
	return status;
}
