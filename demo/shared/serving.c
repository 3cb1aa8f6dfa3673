#include "demo/shared/serving.h"

#include "common/base/settings.h"
#include "common/base/text.h"
#include "common/io/endpoint.h"

static bool set_option(void *context, const char *name, const char *value)
{
	struct serving *serving = context;

	if (text_equals(name, "listen"))
		return endpoint_is_valid(value) &&
		       text_copy(serving->address, sizeof(serving->address), value);
	return misbehave_set(&serving->misbehave, name, value);
}

static bool is_option(const char *name)
{
	return misbehave_is_name(name) || text_equals(name, "listen");
}

bool serving_take_argument(struct serving *serving, const char *word)
{
	static const struct argument_plan plan = { is_option, set_option };

	return argument_take(&serving->argument, &plan, serving, word);
}

void serving_check(const struct serving *serving, struct settings_report *report)
{
	if (serving->argument.waiting[0] != '\0')
		settings_report_add(report, "--%s: needs a value", serving->argument.waiting);
}
