#include "retry/alert_group.h"

#include <string.h>

#include "common/base/memory.h"
#include "common/base/random.h"
#include "common/base/text.h"
#include "common/io/json.h"
#include "retry/alert_body.h"

/* Which targets a row is still for. */
struct wanted {
	bool is_wanted[ALERT_TARGET_MAX];
	bool was_delivered[ALERT_TARGET_MAX];
};

static void find_wanted(
	const struct alert_row *row, const struct alert_target_list *targets, struct wanted *wanted)
{
	struct json *root = NULL;

	memset(wanted, 0, sizeof(*wanted));
	if (row->targets[0] != '\0' && json_parse(row->targets, strlen(row->targets),
					       ALERT_TARGETS_SIZE, &root, NULL) != RESULT_OK)
		root = NULL; /* nothing is known to be delivered */
	for (size_t i = 0; i < targets->count; i++) {
		const struct alert_target *target = &targets->items[i];
		const char *result = json_get_text(json_get(root, target->name), "result");

		wanted->was_delivered[i] = result != NULL && text_equals(result, "ok");
		wanted->is_wanted[i] =
			!wanted->was_delivered[i] && row->severity >= target->min_severity;
	}
	json_destroy(&root);
}

static bool fits(const struct alert_group *group, const struct alert_row *row,
	const struct wanted *wanted, size_t target_count)
{
	if (group->count == ALERT_GROUP_ROWS_MAX || !alert_body_is_same_group(group->rows[0], row))
		return false;
	for (size_t i = 0; i < target_count; i++)
		if (wanted->is_wanted[i] != (group->targets[i].state == ALERT_GROUP_WAITING) ||
			wanted->was_delivered[i] != group->targets[i].was_delivered)
			return false;
	return true;
}

static void begin_group(struct alert_group *group, const struct wanted *wanted, size_t target_count)
{
	for (size_t i = 0; i < target_count; i++) {
		group->targets[i].state =
			wanted->is_wanted[i] ? ALERT_GROUP_WAITING : ALERT_GROUP_UNWANTED;
		group->targets[i].was_delivered = wanted->was_delivered[i];
	}
}

struct alert_group *alert_group_list(
	const struct alert_batch *batch, const struct alert_target_list *targets, size_t *count_out)
{
	struct alert_group *groups = memory_allocate_array(batch->count, sizeof(*groups));
	size_t count = 0;

	for (size_t i = 0; i < batch->count; i++) {
		const struct alert_row *row = &batch->rows[i];
		struct wanted wanted;
		size_t place = 0;

		find_wanted(row, targets, &wanted);
		while (place < count && !fits(&groups[place], row, &wanted, targets->count))
			place++;
		if (place == count)
			begin_group(&groups[count++], &wanted, targets->count);
		groups[place].rows[groups[place].count++] = row;
	}
	*count_out = count;
	return groups;
}

bool alert_group_is_over(const struct alert_group *group, size_t target_count)
{
	for (size_t i = 0; i < target_count; i++)
		if (group->targets[i].state == ALERT_GROUP_WAITING ||
			group->targets[i].state == ALERT_GROUP_SENDING)
			return false;
	return true;
}

bool alert_group_has_failed(const struct alert_group *group, size_t target_count)
{
	for (size_t i = 0; i < target_count; i++)
		if (group->targets[i].state == ALERT_GROUP_FAILED)
			return true;
	return false;
}

uint64_t alert_group_delay_ms(const struct alert_group *group)
{
	static const uint64_t delays_ms[] = { 10000, 30000, 120000, 600000, 1800000 };
	uint32_t attempts = 1;

	for (size_t i = 0; i < group->count; i++)
		if (group->rows[i]->attempts > attempts)
			attempts = group->rows[i]->attempts;
	if (attempts >= ALERT_GROUP_TRIES_MAX)
		return 0;
	uint64_t delay_ms =
		delays_ms[attempts <= ARRAY_LENGTH(delays_ms) ? attempts - 1
							      : ARRAY_LENGTH(delays_ms) - 1];
	/* Give or take a fifth. */
	delay_ms = delay_ms - delay_ms / 5 + random_up_to(2 * (delay_ms / 5));
	return delay_ms > group->retry_after_ms ? delay_ms : group->retry_after_ms;
}

char *alert_group_write_targets(
	const struct alert_group *group, const struct alert_target_list *targets)
{
	struct json *root = json_create_object();

	for (size_t i = 0; i < targets->count; i++) {
		const struct alert_group_target *target = &group->targets[i];
		struct json *item = NULL;

		if (target->result == NULL && !target->was_delivered)
			continue;
		item = json_create_object();
		json_set_text(item, "result", target->was_delivered ? "ok" : target->result);
		json_set_int(item, "code", target->status);
		json_adopt(root, targets->items[i].name, &item);
	}
	char *text = json_write(root);
	json_destroy(&root);
	return text;
}
