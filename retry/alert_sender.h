/*
 * alert_sender - sends the messages of alert groups: one at a time to each target, at most one a
 * second, signed where the target has a secret.
 */
#ifndef RETRY_ALERT_SENDER_H
#define RETRY_ALERT_SENDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "retry/alert_group.h"
#include "retry/alert_target.h"

struct alert_sender;
struct http;
struct retry_settings;

/* Borrows settings and http, which must live longer.  Uses one place of http per target. */
void alert_sender_create(
	const struct retry_settings *settings, struct http *http, struct alert_sender **sender_out);
void alert_sender_destroy(struct alert_sender **sender);

/* Borrowed; stays the same until alert_sender_take_settings. */
const struct alert_target_list *alert_sender_targets(const struct alert_sender *sender);
/* Takes the targets of the settings; only while nothing is under way. */
void alert_sender_take_settings(struct alert_sender *sender);

/* Starts what may be started of count groups.  They must stay where they are while is_busy. */
void alert_sender_send(struct alert_sender *sender, struct alert_group *groups, size_t count);
bool alert_sender_is_busy(const struct alert_sender *sender);
/* Until the next message may be sent to some target, at most limit_ms. */
uint64_t alert_sender_wait_ms(const struct alert_sender *sender, uint64_t limit_ms);

#endif
