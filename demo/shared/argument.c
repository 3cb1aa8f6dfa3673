#include "demo/shared/argument.h"

#include <string.h>

#include "common/base/text.h"

bool argument_take(struct argument *argument, const struct argument_plan *plan, void *settings,
	const char *word)
{
	char name[ARGUMENT_NAME_SIZE] = "";
	const char *equals = strchr(word, '=');

	if (argument->waiting[0] != '\0') {
		(void)text_copy(name, sizeof(name), argument->waiting);
		argument->waiting[0] = '\0';
		return plan->set(settings, name, word);
	}
	if (!text_starts_with(word, "--") ||
		!text_format(name, sizeof(name), "%.*s", (int)strcspn(word + strlen("--"), "="),
			word + strlen("--")) ||
		!plan->has_value(name))
		return false;
	if (equals != NULL)
		return plan->set(settings, name, equals + 1);
	return text_copy(argument->waiting, sizeof(argument->waiting), name);
}
