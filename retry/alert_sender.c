#include "retry/alert_sender.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/base/random.h"
#include "common/base/text.h"
#include "common/io/http.h"
#include "common/report/alert_answer.h"
#include "common/report/alert_message.h"
#include "retry/receiver.h"
#include "retry/retry.h"
#include "retry/retry_metrics.h"

enum {
	MINUTE_MS = 60000,
	HALF_HOUR_MS = 1800000,
	RUSH_MS = 5000, /* behind a full or half hour */
	RENEWAL_RETRY_MS = 15000,
	HOLD_MAX_MS = 86400000, /* of a Retry-After */
	SPREAD = 400,
};

/* The one message on its way to a target, and when the next may follow. */
struct sending {
	struct receiver receiver; /* first */
	struct alert_sender *sender;
	size_t place;
	bool is_busy;
	struct alert_parcel *told[ALERT_PARCEL_MAX];    /* borrowed from the list */
	const struct alert_row *rows[ALERT_PARCEL_MAX]; /* of those, for the message */
	size_t told_count;
	uint64_t pace_ms;    /* when the burst is used up, see is_allowed */
	uint64_t hold_ms;    /* nothing before, as the target asked */
	uint64_t renewal_ms; /* all that fires is told again */
	bool is_off;         /* until the settings are read again */
	uint64_t failures;
};

struct alert_sender {
	const struct retry_settings *settings;
	struct http *http;
	const struct alert_parcel_list *list;
	struct alert_target_list targets; /* a copy: the settings may change under a message */
	uint64_t ahead_ms;                /* what MySQL's clock shows more than ours */
	struct sending sendings[ALERT_TARGET_MAX];
};

static const struct alert_pace *find_pace(const struct alert_sender *sender, size_t place)
{
	return alert_message_pace(sender->targets.items[place].type);
}

/* How far pace_ms may be ahead of now. */
static uint64_t find_allowance_ms(const struct alert_sender *sender, size_t place)
{
	const struct alert_pace *pace = find_pace(sender, place);

	return (uint64_t)MINUTE_MS / pace->per_minute * (pace->burst - 1);
}

void alert_sender_create(const struct retry_settings *settings, struct http *http,
	const struct alert_parcel_list *list, struct alert_sender **sender_out)
{
	struct alert_sender *sender = memory_allocate(sizeof(*sender));

	sender->settings = settings;
	sender->http = http;
	sender->list = list;
	sender->ahead_ms = clock_epoch_ms() - clock_now_ms();
	alert_sender_take_settings(sender);
	/* Nobody knows what the process before this one has sent in the last minute. */
	for (size_t i = 0; i < sender->targets.count; i++)
		sender->sendings[i].pace_ms = clock_now_ms() + find_allowance_ms(sender, i);
	*sender_out = sender;
}

void alert_sender_destroy(struct alert_sender **sender)
{
	if (*sender == NULL)
		return;
	alert_target_clear(&(*sender)->targets);
	free(*sender);
	*sender = NULL;
}

const struct alert_target_list *alert_sender_targets(const struct alert_sender *sender)
{
	return &sender->targets;
}

void alert_sender_take_settings(struct alert_sender *sender)
{
	REQUIRE(!alert_sender_is_busy(sender) && sender->list->count == 0);
	alert_target_clear(&sender->targets);
	alert_target_copy(&sender->settings->alert_targets, &sender->targets);
	for (size_t i = 0; i < ALERT_TARGET_MAX; i++)
		sender->sendings[i] = (struct sending){
			.sender = sender, .place = i, .pace_ms = sender->sendings[i].pace_ms
		};
}

void alert_sender_set_time(struct alert_sender *sender, uint64_t now_ms)
{
	sender->ahead_ms = now_ms - clock_now_ms();
}

uint64_t alert_sender_now_ms(const struct alert_sender *sender)
{
	return sender->ahead_ms + clock_now_ms();
}

/* Each message moves pace_ms by its share of a minute; so many shares ahead of now are allowed. */
static uint64_t find_next_ms(const struct alert_sender *sender, size_t place)
{
	const struct sending *sending = &sender->sendings[place];
	uint64_t allowance_ms = find_allowance_ms(sender, place);
	uint64_t next_ms = sending->pace_ms > allowance_ms ? sending->pace_ms - allowance_ms : 0;

	return next_ms > sending->hold_ms ? next_ms : sending->hold_ms;
}

/* Until the rush behind a full or half hour is over; 0: there is none. */
static uint64_t find_rush_ms(const struct alert_sender *sender, size_t place)
{
	uint64_t into_ms = clock_epoch_ms() % HALF_HOUR_MS;

	return find_pace(sender, place)->avoids_half_hours && into_ms < RUSH_MS ? RUSH_MS - into_ms
										: 0;
}

static void count_message(struct sending *sending)
{
	const struct alert_pace *pace = find_pace(sending->sender, sending->place);
	uint64_t now_ms = clock_now_ms();

	if (sending->pace_ms < now_ms)
		sending->pace_ms = now_ms;
	sending->pace_ms += MINUTE_MS / pace->per_minute;
}

static const struct alert_parcel *find_waiting(const struct alert_sender *sender, size_t place)
{
	for (size_t i = 0; i < sender->list->count; i++)
		if (sender->list->items[i]->legs[place].state == ALERT_LEG_WAITING)
			return sender->list->items[i];
	return NULL;
}

bool alert_sender_wants_firing(const struct alert_sender *sender, size_t place)
{
	return place < sender->targets.count && !sender->sendings[place].is_off &&
	       find_pace(sender, place)->takes_whole_groups;
}

static uint64_t find_left_ms(uint64_t until_ms)
{
	uint64_t now_ms = clock_now_ms();

	return until_ms > now_ms ? until_ms - now_ms : 0;
}

/* Until there is something to be told; UINT64_MAX: nobody knows. */
static uint64_t find_need_ms(const struct alert_sender *sender, size_t place)
{
	if (find_waiting(sender, place) != NULL)
		return 0;
	return alert_sender_wants_firing(sender, place)
		       ? find_left_ms(sender->sendings[place].renewal_ms)
		       : UINT64_MAX;
}

/* Until the target may be told something. */
static uint64_t find_pause_ms(const struct alert_sender *sender, size_t place)
{
	uint64_t left_ms = find_left_ms(find_next_ms(sender, place));
	uint64_t rush_ms = find_rush_ms(sender, place);

	if (sender->sendings[place].is_off)
		return 0;
	return left_ms > rush_ms ? left_ms : rush_ms;
}

bool alert_sender_is_ready(const struct alert_sender *sender, size_t place)
{
	return place < sender->targets.count && !sender->sendings[place].is_busy &&
	       find_need_ms(sender, place) == 0 && find_pause_ms(sender, place) == 0;
}

uint64_t alert_sender_wait_ms(const struct alert_sender *sender, uint64_t limit_ms)
{
	uint64_t wait_ms = limit_ms;

	for (size_t i = 0; i < sender->targets.count; i++) {
		uint64_t need_ms = find_need_ms(sender, i);
		uint64_t pause_ms = find_pause_ms(sender, i);
		uint64_t later_ms = need_ms > pause_ms ? need_ms : pause_ms;

		if (!sender->sendings[i].is_busy && later_ms < wait_ms)
			wait_ms = later_ms;
	}
	return wait_ms;
}

static void log_failure(struct sending *sending, const struct alert_target *target,
	const struct alert_verdict *verdict)
{
	char address[ALERT_ADDRESS_SIZE];

	alert_target_format_address(target, address);
	if (log_is_worth_repeating(&sending->failures))
		log_warn(log_event("alert_failed"), log_text("target", target->name),
			log_text("address", address), log_uint("alerts", sending->told_count),
			log_text("result", alert_result_names[verdict->result]),
			log_text("error", verdict->reason),
			log_uint("repeated", sending->failures));
	if (verdict->is_gone)
		log_error(log_event("alert_target_off"), log_text("target", target->name),
			log_text("error", "it answered 410; send HUP to use it again"));
}

static void note_failure(struct sending *sending, const struct alert_target *target,
	const struct alert_verdict *verdict)
{
	uint64_t hold_ms =
		verdict->retry_after_ms < HOLD_MAX_MS ? verdict->retry_after_ms : HOLD_MAX_MS;

	sending->hold_ms = clock_now_ms() + hold_ms;
	sending->renewal_ms = clock_now_ms() + RENEWAL_RETRY_MS;
	sending->is_off = verdict->is_gone;
	log_failure(sending, target, verdict);
}

static void note_success(struct sending *sending, const struct alert_target *target,
	const struct http_answer *answer)
{
	sending->failures = 0;
	sending->renewal_ms = clock_now_ms() + SECONDS(ALERT_RENEWAL_S);
	if (sending->told_count > 0)
		log_info(log_event("alert_delivered"), log_text("target", target->name),
			log_uint("alerts", sending->told_count),
			log_uint("took_ms", answer->duration_ms));
}

static void note_parcels(
	struct sending *sending, const struct alert_target *target, struct alert_verdict *verdict)
{
	uint32_t spread = (uint32_t)random_up_to(SPREAD);
	uint64_t now_ms = alert_sender_now_ms(sending->sender);
	uint64_t given_up = 0;
	char reason[ALERT_REASON_SIZE];

	(void)text_copy(reason, sizeof(reason), verdict->reason);
	(void)text_format(
		verdict->reason, sizeof(verdict->reason), "%s: %.200s", target->name, reason);
	for (size_t i = 0; i < sending->told_count; i++) {
		struct alert_parcel *parcel = sending->told[i];

		alert_parcel_note(parcel, sending->place, verdict, spread, now_ms);
		given_up += parcel->legs[sending->place].state == ALERT_LEG_GIVEN_UP ? 1 : 0;
	}
	if (given_up > 0)
		log_error(log_event("alert_given_up"), log_text("target", target->name),
			log_uint("alerts", given_up), log_text("error", reason));
}

static void take_answer(struct receiver *receiver, const struct http_answer *answer)
{
	struct sending *sending = (struct sending *)(void *)receiver;
	const struct alert_target *target = &sending->sender->targets.items[sending->place];
	struct alert_verdict verdict;

	alert_answer_judge(target, answer, &verdict);
	retry_metrics_count_alert(target->name, verdict.result);
	if (verdict.result == ALERT_RESULT_OK)
		note_success(sending, target, answer);
	else
		note_failure(sending, target, &verdict);
	note_parcels(sending, target, &verdict);
	sending->told_count = 0;
	sending->is_busy = false;
}

/* What goes into the next message: the first that waits, and the others of its group. */
static void gather(struct sending *sending)
{
	const struct alert_sender *sender = sending->sender;
	const struct alert_pace *pace = find_pace(sender, sending->place);
	const struct alert_parcel *first = find_waiting(sender, sending->place);

	sending->told_count = 0;
	for (size_t i = 0; i < sender->list->count && sending->told_count < pace->rows_max; i++) {
		struct alert_parcel *parcel = sender->list->items[i];
		struct alert_leg *leg = &parcel->legs[sending->place];

		if (leg->state != ALERT_LEG_WAITING ||
			(!pace->takes_whole_groups &&
				!alert_news_is_same_group(&first->row, &parcel->row)))
			continue;
		leg->state = ALERT_LEG_SENDING;
		sending->rows[sending->told_count] = &parcel->row;
		sending->told[sending->told_count++] = parcel;
	}
}

static void tell_nothing(struct alert_sender *sender, size_t place)
{
	uint64_t now_ms = alert_sender_now_ms(sender);

	for (size_t i = 0; i < sender->list->count; i++)
		if (sender->list->items[i]->legs[place].state == ALERT_LEG_WAITING)
			alert_parcel_note_off(sender->list->items[i], place, now_ms);
}

static void send_message(struct sending *sending, const struct alert_news *news)
{
	struct alert_sender *sender = sending->sender;
	struct alert_message *message = NULL;

	alert_message_create(
		&sender->targets.items[sending->place], news, clock_epoch_ms(), &message);
	const char *body = alert_message_body(message);
	sending->receiver.take = take_answer;
	sending->is_busy = true;
	count_message(sending);
	if (sending->told_count > 1)
		retry_metrics_count_suppressed(RETRY_SUPPRESSED_GROUP, sending->told_count - 1);
	http_start(sender->http, &(struct http_request){ .url = alert_message_url(message),
					 .headers = alert_message_headers(message),
					 .body = body,
					 .body_size = strlen(body),
					 .time_limit_ms = ALERT_TIME_LIMIT_MS,
					 .context = &sending->receiver });
	alert_message_destroy(&message);
}

void alert_sender_start(
	struct alert_sender *sender, size_t place, const struct alert_firing_list *firing)
{
	struct sending *sending = &sender->sendings[place];
	const struct alert_origin origin = { .env = sender->settings->env_label,
		.console_url = sender->settings->console_url,
		.runbook_url = sender->settings->runbook_url,
		.language = (enum alert_language)sender->settings->language };

	if (sending->is_off) {
		tell_nothing(sender, place);
		return;
	}
	gather(sending);
	const struct alert_news news = { .rows = sending->rows,
		.count = sending->told_count,
		.firing = firing,
		.origin = &origin };
	/* Nothing fires: there is nothing to renew. */
	if (news.count == 0 && (firing == NULL || firing->count == 0))
		sending->renewal_ms = clock_now_ms() + SECONDS(ALERT_RENEWAL_S);
	else
		send_message(sending, &news);
}

bool alert_sender_is_busy(const struct alert_sender *sender)
{
	for (size_t i = 0; i < ALERT_TARGET_MAX; i++)
		if (sender->sendings[i].is_busy)
			return true;
	return false;
}
