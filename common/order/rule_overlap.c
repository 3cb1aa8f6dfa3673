#include "common/order/rule_overlap.h"

#include "common/base/text.h"

bool rule_overlap_meets(const struct rule_overlap *a, const struct rule_overlap *b)
{
	int64_t from_ms = a->from_ms > b->from_ms ? a->from_ms : b->from_ms;
	int64_t to_ms = a->to_ms < b->to_ms ? a->to_ms : b->to_ms;

	if (from_ms >= to_ms)
		return false;
	for (size_t i = 0; i < RULE_ATTRIBUTE_COUNT; i++)
		if (a->values[i] != NULL && b->values[i] != NULL &&
			!text_equals(a->values[i], b->values[i]))
			return false;
	return true;
}

static unsigned int count_values(const struct rule_overlap *rule)
{
	unsigned int count = 0;

	for (size_t i = 0; i < RULE_ATTRIBUTE_COUNT; i++)
		count += rule->values[i] != NULL;
	return count;
}

bool rule_overlap_is_better(const struct rule_overlap *a, const struct rule_overlap *b)
{
	unsigned int count_a = count_values(a);
	unsigned int count_b = count_values(b);

	if (count_a != count_b)
		return count_a > count_b;
	if (a->priority != b->priority)
		return a->priority > b->priority;
	return a->id > b->id;
}

bool rule_overlap_covers(const struct rule_overlap *a, const struct rule_overlap *b)
{
	if (a->from_ms > b->from_ms || a->to_ms < b->to_ms)
		return false;
	for (size_t i = 0; i < RULE_ATTRIBUTE_COUNT; i++)
		if (a->values[i] != NULL &&
			(b->values[i] == NULL || !text_equals(a->values[i], b->values[i])))
			return false;
	return true;
}
