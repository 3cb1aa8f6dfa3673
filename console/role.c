#include "console/role.h"

#include <assert.h>
#include <stddef.h>

#include "common/base/text.h"
#include "common/order/act.h"

const char *const role_auth_names[] = { "basic", "token", "proxy", NULL };

static_assert((int)ROLE_VIEWER == (int)ACT_ROLE_VIEWER &&
		      (int)ROLE_OPERATOR == (int)ACT_ROLE_OPERATOR &&
		      (int)ROLE_ADMIN == (int)ACT_ROLE_ADMIN,
	"act_role_names are the words of both");

bool role_parse(const char *word, enum role *role_out)
{
	size_t place = text_find(act_role_names, word);

	if (act_role_names[place] == NULL)
		return false;
	*role_out = (enum role)place;
	return true;
}
