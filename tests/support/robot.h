/*
 * robot - a fake receiver of alerts: takes what one kind of target is sent, answers as that service
 * does when it is well, and remembers what came.
 */
#ifndef TESTS_SUPPORT_ROBOT_H
#define TESTS_SUPPORT_ROBOT_H

#include <stddef.h>
#include <stdint.h>

#include "tests/support/http_stub.h"

struct sandbox;

struct robot {
	struct http_stub *stub;
	const char *type; /* "dingtalk" */
	char credential[64];
};

/* Adds it to LAPSE_ALERT_TARGETS of programs started from now on, under the name of its type; its
 * address holds a credential that nobody else has.  key: of its signature; NULL: none. */
void robot_create(struct sandbox *sandbox, const char *type, const char *key, struct robot *robot);
void robot_destroy(struct robot *robot);

/* It answers like this from now on; times 0: for ever, else it is well again after so many. */
void robot_answer_text(struct robot *robot, const char *body, uint32_t times);
void robot_answer_status(
	struct robot *robot, unsigned int status, uint32_t retry_after_s, uint32_t times);
void robot_hang(struct robot *robot, uint32_t times);
void robot_redirect(struct robot *robot, const char *url, uint32_t times);
void robot_be_well(struct robot *robot);

uint64_t robot_count(const struct robot *robot);
/* Of message index, borrowed until the next call. */
const char *robot_body(const struct robot *robot, uint64_t index);
const char *robot_head(const struct robot *robot, uint64_t index);
/* How many messages hold the text. */
size_t robot_count_with(const struct robot *robot, const char *text);

#endif
