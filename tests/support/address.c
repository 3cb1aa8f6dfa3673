#include "tests/support/address.h"

#include <stdio.h>
#include <string.h>

#include <check.h>

#include "common/base/text.h"

void address_parse(const char *url, const char *scheme, struct address *address_out)
{
	char port[8] = "";
	uint64_t number = 0;
	size_t length = strlen(scheme);

	ck_assert_msg(text_starts_with(url, scheme) && text_starts_with(url + length, "://"),
		"no %s address: %s", scheme, url);
	int parts = sscanf(url + length + strlen("://"),
		"%127[^:]:%127[^@]@%127[^:]:%7[0-9]/%127[^?]", address_out->user,
		address_out->password, address_out->host, port, address_out->path);
	ck_assert_msg(
		parts == 5 && text_parse_uint(port, 1, UINT16_MAX, &number), "no address: %s", url);
	address_out->port = (uint16_t)number;
}
