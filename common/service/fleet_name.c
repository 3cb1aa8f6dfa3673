#include "common/service/fleet_name.h"

#include <string.h>

#include "common/base/text.h"

static bool read_name(const char *place, size_t size, struct fleet_name *name)
{
	char text[FLEET_NAME_SIZE + FLEET_PORT_SIZE];
	uint64_t port = 0;

	if (size >= sizeof(text))
		return false;
	memcpy(text, place, size);
	text[size] = '\0';
	char *colon = strrchr(text, ':');
	if (colon == NULL || !text_parse_uint(colon + 1, 1, UINT16_MAX, &port))
		return false;
	*colon = '\0';
	const char *host = text;
	size_t length = strlen(host);
	if (length > 2 && host[0] == '[' && host[length - 1] == ']') {
		text[length - 1] = '\0';
		host++;
	}
	return host[0] != '\0' && text_is_key(host, strlen(host), FLEET_NAME_SIZE - 1) &&
	       text_copy(name->host, sizeof(name->host), host) &&
	       text_copy(name->port, sizeof(name->port), colon + 1);
}

enum result fleet_name_next(const char **place, struct fleet_name *name_out, struct error *error)
{
	static const char between[] = ", ";
	const char *start = *place + strspn(*place, between);
	size_t size = strcspn(start, between);

	*place = start + size;
	if (size == 0)
		return RESULT_NONE;
	if (!read_name(start, size, name_out))
		return error_set(
			RESULT_PERMANENT, error, "\"%.*s\" is not NAME:PORT", (int)size, start);
	return RESULT_OK;
}
