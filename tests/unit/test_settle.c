/* settle, with a link whose lines only remember what was written to them. */
#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/base/window.h"
#include "common/io/broker.h"
#include "common/order/topology.h"
#include "common/service/link.h"
#include "common/service/metrics.h"
#include "consumer/settle.h"
#include "tests/support/runner.h"

enum {
	CAPACITY = 8,
	HOLD_MS = 300,
	TOLD_SIZE = 1024
};

struct broker {
	bool is_open;
	uint64_t published;
};

static struct broker in;
static struct broker out;
static bool is_blocked;
static char told[TOLD_SIZE];
static struct broker_event *events; /* to come */
static size_t event_count;
static size_t event_next;
static struct settle settle;
static struct topology_settings topology_settings;
static struct broker_settings broker_settings;
static uint64_t now_ms;

/* ---- the fakes */

uint64_t clock_now_ms(void)
{
	return now_ms;
}

uint64_t clock_now_us(void)
{
	return 1000 * now_ms;
}

uint64_t clock_epoch_ms(void)
{
	return now_ms;
}

void clock_wait_ms(uint64_t milliseconds)
{
	now_ms += milliseconds;
}

struct broker *link_in(struct link *link)
{
	(void)link;
	return &in;
}

struct broker *link_out(struct link *link)
{
	(void)link;
	return &out;
}

bool link_can_publish(const struct link *link)
{
	(void)link;
	return out.is_open && !is_blocked;
}

static void tell(const char *what, const char *who)
{
	size_t used = strlen(told);

	(void)text_format(told + used, sizeof(told) - used, "%s %s;", what, who);
}

enum result broker_publish(struct broker *broker, const struct broker_message *message,
	uint64_t *number_out, struct error *error)
{
	if (!broker->is_open)
		return error_set(RESULT_TEMPORARY, error, "closed");
	*number_out = ++broker->published;
	tell(message->reason == NULL ? "rearm" : message->reason, message->message_id);
	return RESULT_OK;
}

enum result broker_next(struct broker *broker, uint64_t wait_ms, struct broker_event *event_out,
	struct error *error)
{
	(void)broker;
	(void)wait_ms;
	(void)error;
	if (event_next == event_count)
		return RESULT_NONE;
	*event_out = events[event_next++];
	return RESULT_OK;
}

enum result broker_requeue(struct broker *broker, uint64_t epoch, uint64_t tag, struct error *error)
{
	char text[16];

	(void)broker;
	(void)epoch;
	(void)error;
	(void)text_format(text, sizeof(text), "%d", (int)tag);
	tell("requeue", text);
	return RESULT_OK;
}

uint64_t broker_epoch(const struct broker *broker)
{
	(void)broker;
	return 1;
}

bool broker_is_connected(const struct broker *broker)
{
	return broker->is_open;
}

void broker_drop(struct broker *broker)
{
	broker->is_open = false;
}

/* ---- the tests */

static void set_up(void)
{
	char prefix[] = "lapse";

	in = (struct broker){ .is_open = true };
	out = (struct broker){ .is_open = true };
	is_blocked = false;
	told[0] = '\0';
	event_count = 0;
	event_next = 0;
	now_ms = 1000000;
	events = memory_allocate_array(CAPACITY, sizeof(*events));
	metrics_open();
	settle_register_metrics();
	broker_settings.prefix = memory_copy_text(prefix);
	topology_settings.delay = TOPOLOGY_MODE_LEVELS;
	settle = (struct settle){ .hold_ms = HOLD_MS,
		.handles_room = CAPACITY,
		.handles = memory_allocate_array(CAPACITY, sizeof(uint64_t)) };
	batch_create(CAPACITY, &settle.batch);
	window_create(CAPACITY, &settle.window);
	topology_create(&topology_settings, &broker_settings, &settle.topology);
}

static void tear_down(void)
{
	batch_destroy(&settle.batch);
	window_destroy(&settle.window);
	topology_destroy(&settle.topology);
	free(settle.handles);
	free(events);
	free(broker_settings.prefix);
	metrics_close();
}

static struct batch_entry *add(const char *order_no)
{
	struct batch_entry *entry = batch_add(settle.batch, 100 + batch_count(settle.batch));

	(void)text_copy(entry->order_no, sizeof(entry->order_no), order_no);
	(void)text_copy(entry->message_id, sizeof(entry->message_id), order_no);
	batch_set_state(settle.batch, entry, BATCH_STATE_READY);
	return entry;
}

static struct batch_entry *settle_as(
	const char *order_no, enum close_outcome outcome, int64_t wait_ms)
{
	const struct close_order order = {
		.outcome = outcome, .wait_ms = wait_ms, .due_ms = 1700000000000, .error = "why"
	};
	struct batch_entry *entry = add(order_no);

	settle_outcome(&settle, entry, &order);
	return entry;
}

static void confirm(uint64_t number, bool is_multiple, bool is_positive)
{
	events[event_count++] = (struct broker_event){ .kind = BROKER_EVENT_CONFIRM,
		.number = number,
		.is_multiple = is_multiple,
		.is_positive = is_positive };
}

START_TEST(what_is_over_may_be_acked)
{
	static const enum close_outcome outcomes[] = { CLOSE_OUTCOME_CLOSED,
		CLOSE_OUTCOME_ALREADY_PAID, CLOSE_OUTCOME_ALREADY_CLOSED };

	for (size_t i = 0; i < ARRAY_LENGTH(outcomes); i++)
		ck_assert_int_eq(settle_as("A", outcomes[i], 0)->state, BATCH_STATE_SETTLED);
	ck_assert_int_eq(settle_as("A", CLOSE_OUTCOME_NOT_DUE, -1)->state, BATCH_STATE_SETTLED);
	settle_publish(&settle);
	ck_assert_str_eq(told, "");
}
END_TEST

START_TEST(what_is_nearly_due_is_held)
{
	const struct batch_entry *entry = settle_as("A", CLOSE_OUTCOME_NOT_DUE, HOLD_MS);

	ck_assert_int_eq(entry->state, BATCH_STATE_WAITING);
	ck_assert_uint_eq(entry->until_ms, now_ms + HOLD_MS);
}
END_TEST

START_TEST(what_is_due_later_is_published_and_acked_after_its_confirm)
{
	const struct batch_entry *entry = settle_as("A", CLOSE_OUTCOME_NOT_DUE, HOLD_MS + 1);

	ck_assert_int_eq(entry->state, BATCH_STATE_TO_PUBLISH);
	settle_publish(&settle);
	ck_assert_str_eq(told, "rearm A;");
	ck_assert_int_eq(entry->state, BATCH_STATE_PUBLISHED);
	ck_assert_uint_eq(settle_take_confirms(&settle), 0);
	confirm(1, false, true);
	ck_assert_uint_eq(settle_take_confirms(&settle), 1);
	ck_assert_int_eq(entry->state, BATCH_STATE_SETTLED);
}
END_TEST

START_TEST(unknown_and_bad_orders_are_parked_and_locked_ones_come_again)
{
	(void)settle_as("U", CLOSE_OUTCOME_NOT_FOUND, 0);
	(void)settle_as("F", CLOSE_OUTCOME_FAILED, 0);
	(void)settle_as("L", CLOSE_OUTCOME_LOCKED, 0);
	settle_publish(&settle);
	ck_assert_str_eq(told, "unknown order U;why F;rearm L;");
	confirm(3, true, true);
	ck_assert_uint_eq(settle_take_confirms(&settle), 3);
	ck_assert_uint_eq(batch_count_state(settle.batch, BATCH_STATE_SETTLED), 3);
}
END_TEST

START_TEST(a_refused_message_is_published_again)
{
	const struct batch_entry *entry = settle_as("U", CLOSE_OUTCOME_NOT_FOUND, 0);

	settle_publish(&settle);
	confirm(1, false, false);
	(void)settle_take_confirms(&settle);
	ck_assert_int_eq(entry->state, BATCH_STATE_TO_PUBLISH);
	settle_publish(&settle);
	ck_assert_str_eq(told, "unknown order U;unknown order U;");
}
END_TEST

START_TEST(a_returned_message_is_not_settled_by_its_confirm)
{
	const struct batch_entry *entry = settle_as("U", CLOSE_OUTCOME_NOT_FOUND, 0);

	settle_publish(&settle);
	events[event_count++] =
		(struct broker_event){ .kind = BROKER_EVENT_RETURNED, .delivery.message_id = "U" };
	confirm(1, false, true);
	(void)settle_take_confirms(&settle);
	ck_assert_int_eq(entry->state, BATCH_STATE_TO_PUBLISH);
	ck_assert(!out.is_open);
}
END_TEST

START_TEST(a_lost_line_publishes_again_what_was_not_confirmed)
{
	(void)settle_as("A", CLOSE_OUTCOME_NOT_FOUND, 0);
	(void)settle_as("B", CLOSE_OUTCOME_NOT_FOUND, 0);
	settle_publish(&settle);
	confirm(1, false, true);
	(void)settle_take_confirms(&settle);
	settle_forget_published(&settle);
	ck_assert_uint_eq(window_count(settle.window), 0);
	out = (struct broker){ .is_open = true };
	told[0] = '\0';
	settle_publish(&settle);
	ck_assert_str_eq(told, "unknown order B;");
}
END_TEST

START_TEST(what_cannot_be_published_waits_until_it_may_be_held)
{
	const struct batch_entry *entry = settle_as("A", CLOSE_OUTCOME_NOT_DUE, 5000);
	const struct batch_entry *parked = settle_as("U", CLOSE_OUTCOME_NOT_FOUND, 0);

	is_blocked = true;
	settle_publish(&settle);
	ck_assert_int_eq(entry->state, BATCH_STATE_TO_PUBLISH);
	now_ms += 4800;
	settle_publish(&settle);
	ck_assert_int_eq(entry->state, BATCH_STATE_WAITING);
	ck_assert_int_eq(parked->state, BATCH_STATE_TO_PUBLISH);
	(void)batch_wake(settle.batch, now_ms + 200);
	ck_assert_int_eq(entry->state, BATCH_STATE_READY);
	ck_assert_str_eq(told, "");
}
END_TEST

static struct batch_entry *malform(size_t body_size)
{
	static uint8_t body[BROKER_BODY_MAX];
	struct broker_delivery *delivery = memory_allocate(sizeof(*delivery));
	struct batch_entry *entry = add("");
	struct error error = { .text = "" };

	delivery->body = body;
	delivery->body_size = body_size;
	(void)text_copy(entry->message_id, sizeof(entry->message_id), "M");
	ck_assert_int_eq(settle_malformed(&settle, entry, delivery, "is empty", &error), RESULT_OK);
	free(delivery);
	return entry;
}

START_TEST(a_malformed_message_is_kept_and_parked)
{
	const struct batch_entry *entry = malform(10);

	is_blocked = true;
	settle_publish(&settle);
	ck_assert_int_eq(entry->state, BATCH_STATE_TO_PUBLISH);
	is_blocked = false;
	settle_publish(&settle);
	confirm(1, false, false);
	(void)settle_take_confirms(&settle);
	settle_publish(&settle);
	confirm(2, false, true);
	(void)settle_take_confirms(&settle);
	ck_assert_int_eq(entry->state, BATCH_STATE_SETTLED);
	ck_assert_str_eq(told, "is empty M;is empty M;");
}
END_TEST

START_TEST(too_many_malformed_ones_are_given_back_one_by_one)
{
	is_blocked = true;
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(malform(BROKER_BODY_MAX)->state, BATCH_STATE_TO_PUBLISH);
	ck_assert_int_eq(malform(BROKER_BODY_MAX)->state, BATCH_STATE_GIVEN_BACK);
	ck_assert_int_eq(malform(10)->state, BATCH_STATE_TO_PUBLISH);
	ck_assert_str_eq(told, "requeue 103;");
	is_blocked = false;
	/* Now it is published while its body is there; a refusal gives it back. */
	struct batch_entry *entry = malform(BROKER_BODY_MAX);
	ck_assert_int_eq(entry->state, BATCH_STATE_PUBLISHED);
	confirm(1, false, false);
	(void)settle_take_confirms(&settle);
	ck_assert_int_eq(entry->state, BATCH_STATE_GIVEN_BACK);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		what_is_over_may_be_acked,
		what_is_nearly_due_is_held,
		what_is_due_later_is_published_and_acked_after_its_confirm,
		unknown_and_bad_orders_are_parked_and_locked_ones_come_again,
		a_refused_message_is_published_again,
		a_returned_message_is_not_settled_by_its_confirm,
		a_lost_line_publishes_again_what_was_not_confirmed,
		what_cannot_be_published_waits_until_it_may_be_held,
		a_malformed_message_is_kept_and_parked,
		too_many_malformed_ones_are_given_back_one_by_one,
	};
	const struct runner_fixture fixture = { set_up, tear_down };

	return runner_run_with("settle", &fixture, tests, ARRAY_LENGTH(tests));
}
