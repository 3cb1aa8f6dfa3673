#include "console/phrase.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/text.h"

const char *const language_names[] = { "en", "zh-CN", NULL };

static int compare(const void *key, const void *item)
{
	const struct phrase *phrase = item;

	return strcmp(key, phrase->english);
}

/* The lists are in the order of their keys, which tests/checks/phrases.sh makes sure of. */
const char *phrase_in(enum language language, const char *english)
{
	if (language == LANGUAGE_EN)
		return english;
	const struct phrase *found =
		bsearch(english, phrases, phrase_count, sizeof(phrases[0]), compare);
	if (found == NULL)
		found = bsearch(
			english, phrase_names, phrase_name_count, sizeof(phrases[0]), compare);
	return found == NULL ? english : found->chinese;
}

void phrase_fill(
	char *target, size_t target_size, const char *text, const char *first, const char *second)
{
	size_t size = 0;

	target[0] = '\0';
	while (*text != '\0') {
		const char *value = NULL;

		if (text_starts_with(text, "{1}"))
			value = first == NULL ? "" : first;
		else if (text_starts_with(text, "{2}"))
			value = second == NULL ? "" : second;
		if (value == NULL) {
			if (size + 1 < target_size)
				target[size++] = *text;
			target[size] = '\0';
			text++;
			continue;
		}
		(void)text_copy(target + size, target_size - size, value);
		size += strlen(target + size);
		text += strlen("{1}");
	}
}
