#include "console/role.h"

#include <stddef.h>

#include "common/base/text.h"

const char *const role_names[] = { "viewer", "operator", "admin", NULL };
const char *const role_auth_names[] = { "basic", "token", "proxy", NULL };

bool role_parse(const char *word, enum role *role_out)
{
	for (size_t i = 0; role_names[i] != NULL; i++) {
		if (!text_equals(role_names[i], word))
			continue;
		*role_out = (enum role)i;
		return true;
	}
	return false;
}
