#include "retry/alert_parcel.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/io/json.h"

enum {
	SOON_MS = 1000, /* two clocks have told the same moment */
};

static const char firing[] = "firing";
static const char resolved[] = "resolved";
static const char off[] = "off";

/* The words of one entry of the column targets. */
static const char *const state_words[] = {
	[ALERT_LEG_UNWANTED] = "unwanted",
	[ALERT_LEG_WAITING] = "waiting",
	[ALERT_LEG_SENDING] = "waiting",
	[ALERT_LEG_RESTING] = "waiting",
	[ALERT_LEG_DONE] = "sent",
	[ALERT_LEG_GIVEN_UP] = "failed",
};

/* Milliseconds since 1970; 0 when it is no time. */
static uint64_t read_time(const char *text)
{
	int64_t epoch_ms = 0;

	return text != NULL && text_parse_time(text, &epoch_ms) && epoch_ms > 0 ? (uint64_t)epoch_ms
										: 0;
}

static bool is_word(const char *text, const char *word)
{
	return text != NULL && text_equals(text, word);
}

static bool is_known(const struct alert_leg *leg)
{
	return leg->result[0] != '\0';
}

/* Could a failed try have been heard all the same? */
static bool is_clear_failure(const struct alert_leg *leg)
{
	return is_known(leg) && !text_equals(leg->result, "ok") &&
	       !text_equals(leg->result, alert_result_names[ALERT_RESULT_TIMEOUT]);
}

/* An entry without a state is of an older version. */
static enum alert_leg_state read_state(const char *state, const char *result)
{
	if (is_word(state, state_words[ALERT_LEG_GIVEN_UP]))
		return ALERT_LEG_GIVEN_UP;
	if (is_word(state, state_words[ALERT_LEG_RESTING]))
		return ALERT_LEG_RESTING;
	return text_equals(result, "ok") ? ALERT_LEG_DONE : ALERT_LEG_RESTING;
}

/* What was known of a target; is it about the state the row is in? */
static bool read_leg(const struct json *entry, const struct alert_row *row, struct alert_leg *leg)
{
	const char *result = json_get_text(entry, "result");
	const char *about = json_get_text(entry, "of");
	int64_t tries = 1;

	if (result == NULL)
		return false;
	(void)text_clip(leg->result, sizeof(leg->result), result, strlen(result));
	(void)json_get_int(entry, "code", &leg->code);
	(void)json_get_int(entry, "tries", &tries);
	leg->tries = tries >= 0 && tries < ALERT_TRIES_MAX ? (uint32_t)tries : ALERT_TRIES_MAX - 1;
	leg->next_ms = read_time(json_get_text(entry, "next"));
	leg->was_told = text_equals(result, "ok") && !is_word(about, resolved);
	(void)json_get_bool(entry, "told", &leg->was_told);
	leg->state = read_state(json_get_text(entry, "state"), result);
	return about == NULL || text_equals(about, row->is_resolved ? resolved : firing);
}

/* The row has changed since: a new round of tries. */
static void begin_again(struct alert_leg *leg)
{
	leg->state = ALERT_LEG_WAITING;
	leg->tries = 0;
	leg->next_ms = 0;
}

static void open_leg(const struct json *entry, const struct alert_row *row, uint64_t now_ms,
	struct alert_leg *leg)
{
	bool is_reminder = !row->is_resolved && row->delivery != ALERT_DELIVERY_PENDING;
	bool is_current = read_leg(entry, row, leg);

	if (is_known(leg) && !is_current && row->is_resolved && !leg->was_told &&
		is_clear_failure(leg))
		leg->state = ALERT_LEG_UNWANTED;
	else if (!is_known(leg) || !is_current || (is_reminder && leg->state != ALERT_LEG_GIVEN_UP))
		begin_again(leg);
	else if (leg->state == ALERT_LEG_RESTING && leg->next_ms <= now_ms + SOON_MS)
		leg->state = ALERT_LEG_WAITING;
}

void alert_parcel_create(const struct alert_row *row, const struct alert_target_list *targets,
	uint64_t now_ms, struct alert_parcel **parcel_out)
{
	struct alert_parcel *parcel = memory_allocate(sizeof(*parcel));
	struct json *root = NULL;

	parcel->row = *row;
	if (row->targets[0] == '\0' || json_parse(row->targets, strlen(row->targets),
					       ALERT_TARGETS_SIZE, &root, NULL) != RESULT_OK)
		root = NULL; /* nothing is known */
	for (size_t i = 0; i < targets->count; i++)
		if (row->severity >= targets->items[i].min_severity)
			open_leg(json_get(root, targets->items[i].name), row, now_ms,
				&parcel->legs[i]);
	json_destroy(&root);
	*parcel_out = parcel;
}

void alert_parcel_destroy(struct alert_parcel **parcel)
{
	free(*parcel);
	*parcel = NULL;
}

bool alert_parcel_has(const struct alert_parcel *parcel, enum alert_leg_state state)
{
	for (size_t i = 0; i < ALERT_TARGET_MAX; i++)
		if (parcel->legs[i].state == state)
			return true;
	return false;
}

bool alert_parcel_is_over(const struct alert_parcel *parcel)
{
	return !alert_parcel_has(parcel, ALERT_LEG_WAITING) &&
	       !alert_parcel_has(parcel, ALERT_LEG_SENDING);
}

uint64_t alert_parcel_delay_ms(uint32_t tries)
{
	static const uint64_t delays_ms[] = { 10000, 30000, 120000, 600000, 1800000 };
	size_t place = tries < ARRAY_LENGTH(delays_ms) ? tries : ARRAY_LENGTH(delays_ms);

	return delays_ms[place == 0 ? 0 : place - 1];
}

void alert_parcel_note(struct alert_parcel *parcel, size_t target,
	const struct alert_verdict *verdict, uint32_t spread, uint64_t now_ms)
{
	struct alert_leg *leg = &parcel->legs[target];
	bool is_told = verdict->result == ALERT_RESULT_OK;

	(void)text_copy(leg->result, sizeof(leg->result), alert_result_names[verdict->result]);
	leg->code = verdict->code;
	leg->tries++;
	if (is_told) {
		leg->state = ALERT_LEG_DONE;
		leg->was_told = true;
		return;
	}
	/* Give or take a fifth. */
	uint64_t delay_ms = alert_parcel_delay_ms(leg->tries) / 1000 * (800 + spread);
	leg->next_ms =
		now_ms + (delay_ms > verdict->retry_after_ms ? delay_ms : verdict->retry_after_ms);
	leg->state = leg->tries >= ALERT_TRIES_MAX ? ALERT_LEG_GIVEN_UP : ALERT_LEG_RESTING;
	(void)text_copy(parcel->reason, sizeof(parcel->reason), verdict->reason);
}

void alert_parcel_note_off(struct alert_parcel *parcel, size_t target, uint64_t now_ms)
{
	struct alert_leg *leg = &parcel->legs[target];

	(void)text_copy(leg->result, sizeof(leg->result), off);
	leg->state = ALERT_LEG_RESTING;
	leg->next_ms = now_ms + ALERT_OFF_MS;
}

void alert_parcel_give_back(struct alert_parcel *parcel, uint64_t now_ms)
{
	for (size_t i = 0; i < ALERT_TARGET_MAX; i++) {
		if (parcel->legs[i].state != ALERT_LEG_WAITING)
			continue;
		parcel->legs[i].state = ALERT_LEG_RESTING;
		parcel->legs[i].next_ms = now_ms;
	}
}

static struct json *create_entry(const struct alert_row *row, const struct alert_leg *leg)
{
	struct json *entry = json_create_object();
	char next[ALERT_TIME_SIZE];

	json_set_text(entry, "of", row->is_resolved ? resolved : firing);
	json_set_text(entry, "state", state_words[leg->state]);
	json_set_text(entry, "result", leg->result);
	json_set_int(entry, "code", leg->code);
	json_set_int(entry, "tries", leg->tries);
	if (leg->state == ALERT_LEG_RESTING) {
		text_format_time(next, sizeof(next), leg->next_ms);
		json_set_text(entry, "next", next);
	}
	if (leg->was_told)
		json_set_bool(entry, "told", true);
	return entry;
}

/* A leg that was given back before its first try leaves nothing to say. */
static bool is_worth_writing(const struct alert_leg *leg)
{
	return is_known(leg) && leg->state != ALERT_LEG_UNWANTED;
}

char *alert_parcel_write_targets(
	const struct alert_parcel *parcel, const struct alert_target_list *targets)
{
	struct json *root = json_create_object();

	for (size_t i = 0; i < targets->count; i++) {
		if (!is_worth_writing(&parcel->legs[i]))
			continue;
		struct json *entry = create_entry(&parcel->row, &parcel->legs[i]);

		json_adopt(root, targets->items[i].name, &entry);
	}
	char *text = json_write(root);
	json_destroy(&root);
	return text;
}

enum alert_delivery_state alert_parcel_find_state(
	const struct alert_parcel *parcel, uint64_t now_ms, uint64_t *delay_ms_out)
{
	uint64_t next_ms = UINT64_MAX;

	*delay_ms_out = 0;
	for (size_t i = 0; i < ALERT_TARGET_MAX; i++)
		if (parcel->legs[i].state == ALERT_LEG_RESTING && parcel->legs[i].next_ms < next_ms)
			next_ms = parcel->legs[i].next_ms;
	if (next_ms != UINT64_MAX) {
		*delay_ms_out = next_ms > now_ms ? next_ms - now_ms : 1;
		return ALERT_DELIVERY_PENDING;
	}
	return alert_parcel_has(parcel, ALERT_LEG_GIVEN_UP) ? ALERT_DELIVERY_FAILED
							    : ALERT_DELIVERY_SENT;
}
