#include "demo/shop/reservation.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/backoff.h"
#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/io/http.h"
#include "demo/shop/reservation_message.h"

enum {
	PLACE_COUNT = 64,
	CONNECT_LIMIT_MS = 1000,
	CALL_LIMIT_MS = 3000,
	TRY_MAX = 40,
	BACKOFF_BASE_MS = 50,
	BACKOFF_CAP_MS = 1000,
	STATUS_OK = 200,
	ADDRESS_SIZE = SHOP_URL_SIZE + 64,
};

enum place_state {
	PLACE_STATE_FREE,
	PLACE_STATE_WAITING, /* for its next try */
	PLACE_STATE_CALLING,
	PLACE_STATE_DONE,
};

struct place {
	enum place_state state;
	enum reservation_kind kind;
	enum reservation_outcome outcome; /* when DONE */
	struct plan_order order;
	struct reservation_lines lines;
	uint32_t try_count;
	uint64_t next_try_ms;
};

struct reservation {
	const char *stock_url;
	struct http *http;
	struct place places[PLACE_COUNT];
	uint64_t failures; /* in a row */
};

void reservation_create(const char *stock_url, struct reservation **reservation_out)
{
	struct reservation *reservation = memory_allocate(sizeof(*reservation));

	reservation->stock_url = stock_url;
	http_create(PLACE_COUNT, CONNECT_LIMIT_MS, &reservation->http);
	*reservation_out = reservation;
}

void reservation_destroy(struct reservation **reservation)
{
	if (*reservation == NULL)
		return;
	http_destroy(&(*reservation)->http);
	free(*reservation);
	*reservation = NULL;
}

size_t reservation_count_free(const struct reservation *reservation)
{
	return PLACE_COUNT - reservation_count(reservation);
}

size_t reservation_count(const struct reservation *reservation)
{
	size_t count = 0;

	for (size_t i = 0; i < PLACE_COUNT; i++)
		if (reservation->places[i].state != PLACE_STATE_FREE)
			count++;
	return count;
}

void reservation_start(struct reservation *reservation, const struct plan_order *order)
{
	struct place *place = reservation->places;

	while (place < reservation->places + PLACE_COUNT && place->state != PLACE_STATE_FREE)
		place++;
	REQUIRE(place < reservation->places + PLACE_COUNT);
	memset(place, 0, sizeof(*place));
	place->order = *order;
	place->state = PLACE_STATE_WAITING;
	if (order->item_count == 0) {
		place->state = PLACE_STATE_DONE;
		place->outcome = RESERVATION_OUTCOME_RESERVED;
	}
}

static void call(struct reservation *reservation, struct place *place)
{
	char url[ADDRESS_SIZE];
	char *body = reservation_message_write(place->kind, &place->order, &place->lines);
	static const char *const headers[] = { "Content-Type: application/json", NULL };

	(void)text_format(url, sizeof(url), "%s%s", reservation->stock_url,
		reservation_message_path(place->kind));
	const struct http_request request = {
		.url = url,
		.headers = headers,
		.body = body,
		.body_size = strlen(body),
		.time_limit_ms = CALL_LIMIT_MS,
		.context = place,
	};
	http_start(reservation->http, &request);
	place->state = PLACE_STATE_CALLING;
	free(body);
}

static void call_due(struct reservation *reservation)
{
	uint64_t now_ms = clock_now_ms();

	for (size_t i = 0; i < PLACE_COUNT; i++) {
		struct place *place = &reservation->places[i];

		if (place->state == PLACE_STATE_WAITING && place->next_try_ms <= now_ms)
			call(reservation, place);
	}
}

static void finish(struct place *place, enum reservation_outcome outcome)
{
	place->state = PLACE_STATE_DONE;
	place->outcome = outcome;
}

static void try_again(
	struct reservation *reservation, struct place *place, const struct http_answer *answer)
{
	if (log_is_worth_repeating(&reservation->failures))
		log_warn(log_event("reserve_failed"), log_text("order_no", place->order.order_no),
			log_int("status", answer->status), log_text("error", answer->error),
			log_uint("repeated", reservation->failures));
	if (++place->try_count == TRY_MAX) {
		finish(place, RESERVATION_OUTCOME_FAILED);
		return;
	}
	place->state = PLACE_STATE_WAITING;
	place->next_try_ms = clock_now_ms() +
			     backoff_delay_ms(place->try_count, BACKOFF_BASE_MS, BACKOFF_CAP_MS);
}

static size_t count_taken(const struct place *place)
{
	size_t count = 0;

	for (size_t i = 0; i < place->order.item_count; i++)
		count += place->lines.is_taken[i] ? 1 : 0;
	return count;
}

static void take_result(struct place *place)
{
	size_t taken = count_taken(place);

	if (place->kind == RESERVATION_KIND_RELEASE || taken == 0) {
		finish(place, RESERVATION_OUTCOME_REFUSED);
	} else if (taken == place->order.item_count) {
		finish(place, RESERVATION_OUTCOME_RESERVED);
	} else {
		place->kind = RESERVATION_KIND_RELEASE;
		place->try_count = 0;
		place->state = PLACE_STATE_WAITING;
	}
}

static void take_answer(struct reservation *reservation, const struct http_answer *answer)
{
	struct place *place = answer->context;
	struct reservation_lines lines = place->lines;

	if (answer->failure != HTTP_FAILURE_NONE || answer->status != STATUS_OK ||
		!reservation_message_read(
			place->kind, &place->order, answer->body, answer->body_size, &lines)) {
		try_again(reservation, place, answer);
		return;
	}
	reservation->failures = 0;
	place->lines = lines;
	take_result(place);
}

void reservation_work(struct reservation *reservation, uint64_t wait_ms)
{
	struct http_answer answer;

	call_due(reservation);
	http_work(reservation->http, wait_ms);
	while (http_take_answer(reservation->http, &answer))
		take_answer(reservation, &answer);
}

bool reservation_take(struct reservation *reservation, struct plan_order *order_out,
	enum reservation_outcome *outcome_out)
{
	for (size_t i = 0; i < PLACE_COUNT; i++) {
		struct place *place = &reservation->places[i];

		if (place->state != PLACE_STATE_DONE)
			continue;
		*order_out = place->order;
		*outcome_out = place->outcome;
		place->state = PLACE_STATE_FREE;
		return true;
	}
	return false;
}
