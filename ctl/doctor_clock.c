#include "ctl/doctor_clock.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/base/ulid.h"
#include "common/io/broker.h"
#include "ctl/finding.h"
#include "ctl/session.h"

enum {
	LIMIT_MS = 3000,
	TURN_MS = 10,
	WARN_MS = 2000,
	QUEUE_LIFE_MS = 60000,
};

/* Messages end in the first queue and are found in the second. */
struct way {
	char first[BROKER_NAME_SIZE];
	char second[BROKER_NAME_SIZE];
};

static enum result declare(struct broker *broker, const struct way *way, struct error *error)
{
	const struct broker_argument arguments[] = { { .name = "x-expires",
							     .number = QUEUE_LIFE_MS },
		{ .name = "x-message-ttl", .number = 1 },
		{ .name = "x-dead-letter-exchange", .text = "" },
		{ .name = "x-dead-letter-routing-key", .text = way->second } };
	enum result result = broker_declare_queue(broker, way->second, arguments, 1, error);

	if (result == RESULT_OK)
		result = broker_declare_queue(
			broker, way->first, arguments, ARRAY_LENGTH(arguments), error);
	return result;
}

static enum result send(struct broker *broker, const struct way *way, struct error *error)
{
	const struct broker_message message = {
		.exchange = "", .routing_key = way->first, .type = "lapse.clock", .body = ""
	};
	uint64_t number = 0;

	return broker_publish(broker, &message, &number, error);
}

/* TEMPORARY: it did not come. */
static enum result await(
	struct broker *broker, const struct way *way, uint64_t *broker_s_out, struct error *error)
{
	struct broker_delivery *delivery = memory_allocate(sizeof(*delivery));
	uint64_t end_ms = clock_now_ms() + LIMIT_MS;
	enum result result = RESULT_NONE;

	while (result == RESULT_NONE && clock_now_ms() < end_ms) {
		result = broker_get(broker, way->second, delivery, error);
		if (result == RESULT_NONE)
			clock_wait_ms(TURN_MS);
	}
	*broker_s_out = delivery->death_s;
	if (result == RESULT_OK)
		result = broker_ack(broker, delivery->epoch, delivery->tag, error);
	free(delivery);
	return result == RESULT_NONE ? error_set(RESULT_TEMPORARY, error,
					       "a message that ended did not come back")
				     : result;
}

void doctor_judge_broker_clock(
	uint64_t broker_s, uint64_t before_ms, uint64_t after_ms, struct finding_list *list)
{
	/* The second that broker_s stands for against the time in which it was written. */
	int64_t least_ms = (int64_t)(broker_s * 1000) - (int64_t)after_ms;
	int64_t most_ms = (int64_t)(broker_s * 1000 + 999) - (int64_t)before_ms;

	if (least_ms > WARN_MS || most_ms < -WARN_MS)
		finding_warn(list, "broker_clock",
			"the broker's clock is about %+" PRId64
			" s from this host's: deadlines do not need it, but set both by NTP so "
			"that logs can be compared",
			(least_ms > 0 ? least_ms : most_ms) / 1000);
	else
		finding_ok(list, "broker_clock",
			"the broker's clock is less than %d s from this host's",
			WARN_MS / 1000 + 1);
}

void doctor_check_broker_clock(
	const struct session *session, struct broker *broker, struct finding_list *list)
{
	const char *prefix = session->settings->broker.prefix;
	struct way way = { .first = "" };
	char id[ULID_SIZE];
	struct error error = { .text = "" };
	uint64_t broker_s = 0;
	uint64_t before_ms = clock_epoch_ms();

	ulid_generate(id);
	(void)text_format(way.first, sizeof(way.first), "%.100s.doctor.%s.1", prefix, id);
	(void)text_format(way.second, sizeof(way.second), "%.100s.doctor.%s.2", prefix, id);
	enum result result = broker_ensure_connected(broker, &error);
	if (result == RESULT_OK)
		result = declare(broker, &way, &error);
	if (result == RESULT_OK)
		result = send(broker, &way, &error);
	if (result == RESULT_OK)
		result = await(broker, &way, &broker_s, &error);
	if (result == RESULT_OK && broker_s != 0)
		doctor_judge_broker_clock(broker_s, before_ms, clock_epoch_ms(), list);
	else if (strstr(error.text, "ACCESS_REFUSED") != NULL)
		finding_ok(list, "broker_clock",
			"cannot tell: this user may make no queue, and a broker tells its time "
			"only to those who may");
	else
		finding_warn(list, "broker_clock", "cannot be told: %s",
			result == RESULT_OK ? "a message that ended carries no time" : error.text);
}
