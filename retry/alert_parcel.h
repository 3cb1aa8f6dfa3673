/*
 * alert_parcel - one alert on its way: a leased row, and how it stands with each target.
 *
 * Each target has its own tries, its own schedule and its own end; what is known of it is kept in
 * the column targets, so that the next process goes on where this one stopped.
 */
#ifndef RETRY_ALERT_PARCEL_H
#define RETRY_ALERT_PARCEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/order/alert_delivery.h"
#include "common/report/alert_answer.h"
#include "common/report/alert_target.h"

enum {
	ALERT_TRIES_MAX = 28, /* about 12 hours */
	ALERT_OFF_MS = 1800000,
};

enum alert_leg_state {
	ALERT_LEG_UNWANTED, /* not severe enough, or never told of what is over */
	ALERT_LEG_WAITING,
	ALERT_LEG_SENDING,
	ALERT_LEG_RESTING, /* failed; again at next_ms */
	ALERT_LEG_DONE,
	ALERT_LEG_GIVEN_UP,
};

struct alert_leg {
	enum alert_leg_state state;
	bool was_told; /* that it fires */
	uint32_t tries;
	uint64_t next_ms; /* of a RESTING one, by MySQL's clock */
	char result[16];  /* "": nothing is known, result, code and tries say nothing */
	int64_t code;
};

struct alert_parcel {
	struct alert_row row;
	struct alert_leg legs[ALERT_TARGET_MAX];
	char reason[ALERT_TEXT_SIZE]; /* of the last failure; "" when there was none */
};

/* now_ms: by MySQL's clock, as all of them. */

void alert_parcel_create(const struct alert_row *row, const struct alert_target_list *targets,
	uint64_t now_ms, struct alert_parcel **parcel_out);
void alert_parcel_destroy(struct alert_parcel **parcel);

bool alert_parcel_has(const struct alert_parcel *parcel, enum alert_leg_state state);
/* Nothing is to be sent any more by this lease. */
bool alert_parcel_is_over(const struct alert_parcel *parcel);

/* What a target answered.  spread: 0 to 400, the random part of the next delay in thousandths. */
void alert_parcel_note(struct alert_parcel *parcel, size_t target,
	const struct alert_verdict *verdict, uint32_t spread, uint64_t now_ms);
/* The target is switched off: no try is counted. */
void alert_parcel_note_off(struct alert_parcel *parcel, size_t target, uint64_t now_ms);
/* What waits is due at once for whoever claims it next. */
void alert_parcel_give_back(struct alert_parcel *parcel, uint64_t now_ms);
/* Until the next try after so many failed ones, without spread: 10 s ... 30 min. */
uint64_t alert_parcel_delay_ms(uint32_t tries);

/* For the column targets; owned by the caller. */
MUST_USE char *alert_parcel_write_targets(
	const struct alert_parcel *parcel, const struct alert_target_list *targets);
/* The state of the row, and the delay until its next try; 0 when nothing is left to try. */
enum alert_delivery_state alert_parcel_find_state(
	const struct alert_parcel *parcel, uint64_t now_ms, uint64_t *delay_ms_out);

#endif
