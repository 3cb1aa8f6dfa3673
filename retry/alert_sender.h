/*
 * alert_sender - sends alerts to their targets: one message at a time to each, never faster than
 * its service takes them, alerts of one group together.
 */
#ifndef RETRY_ALERT_SENDER_H
#define RETRY_ALERT_SENDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/report/alert_target.h"
#include "retry/alert_parcel.h"

struct alert_sender;
struct http;
struct retry_settings;

enum {
	ALERT_PARCEL_MAX = 400
};

/* What is on its way.  The items belong to whoever fills the list. */
struct alert_parcel_list {
	struct alert_parcel *items[ALERT_PARCEL_MAX];
	size_t count;
};

/* Borrows settings, http and list, which must live longer.  Uses one place of http per target. */
void alert_sender_create(const struct retry_settings *settings, struct http *http,
	const struct alert_parcel_list *list, struct alert_sender **sender_out);
void alert_sender_destroy(struct alert_sender **sender);

/* Borrowed; stays the same until alert_sender_take_settings. */
const struct alert_target_list *alert_sender_targets(const struct alert_sender *sender);
/* Takes the targets of the settings; only while nothing is under way and the list is empty. */
void alert_sender_take_settings(struct alert_sender *sender);

/* MySQL's time, as it was told last; between two tellings our clock counts on. */
void alert_sender_set_time(struct alert_sender *sender, uint64_t now_ms);
uint64_t alert_sender_now_ms(const struct alert_sender *sender);

/* Has the target at this place something to be told, and may it be told now? */
bool alert_sender_is_ready(const struct alert_sender *sender, size_t place);
/* Until some target that is not being told something may be told what it has to be; at most
 * limit_ms.  0: one is ready. */
uint64_t alert_sender_wait_ms(const struct alert_sender *sender, uint64_t limit_ms);
/* Does it want to know all that fires?  Then start needs the list. */
bool alert_sender_wants_firing(const struct alert_sender *sender, size_t place);
/* Starts one message.  firing is borrowed for the call; NULL where it is not wanted. */
void alert_sender_start(
	struct alert_sender *sender, size_t place, const struct alert_firing_list *firing);

bool alert_sender_is_busy(const struct alert_sender *sender);

#endif
