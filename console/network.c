#include "console/network.h"

#include <arpa/inet.h>
#include <string.h>
#include <sys/socket.h>

#include "common/base/text.h"

enum {
	PIECE_SIZE = 64,
	V4_PREFIX_BITS = 96,
};

static bool parse_address(const char *text, uint8_t bytes_out[NETWORK_BYTES], bool *is_v4_out)
{
	static const uint8_t mapped[] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff };

	*is_v4_out = inet_pton(AF_INET, text, bytes_out + sizeof(mapped)) == 1;
	if (*is_v4_out) {
		memcpy(bytes_out, mapped, sizeof(mapped));
		return true;
	}
	return inet_pton(AF_INET6, text, bytes_out) == 1;
}

static bool parse_range(char *text, struct network_range *range)
{
	char *slash = strchr(text, '/');
	bool is_v4 = false;
	uint64_t bits = 0;

	if (slash != NULL)
		*slash = '\0';
	if (!parse_address(text, range->bytes, &is_v4))
		return false;
	bits = is_v4 ? 32 : 128;
	if (slash != NULL && !text_parse_uint(slash + 1, 0, bits, &bits))
		return false;
	range->bits = (unsigned int)bits + (is_v4 ? V4_PREFIX_BITS : 0);
	return true;
}

bool network_parse(const char *text, struct network *network_out)
{
	*network_out = (struct network){ .count = 0 };
	for (const char *place = text == NULL ? "" : text; *place != '\0';) {
		size_t size = strcspn(place, ", ");
		char piece[PIECE_SIZE];

		if (size >= sizeof(piece))
			return false;
		memcpy(piece, place, size);
		piece[size] = '\0';
		if (size > 0) {
			if (network_out->count == NETWORK_MAX ||
				!parse_range(piece, &network_out->ranges[network_out->count]))
				return false;
			network_out->count++;
		}
		place += size + strspn(place + size, ", ");
	}
	return true;
}

static bool is_in(const struct network_range *range, const uint8_t bytes[NETWORK_BYTES])
{
	unsigned int whole = range->bits / 8;
	unsigned int rest = range->bits % 8;

	if (memcmp(range->bytes, bytes, whole) != 0)
		return false;
	return rest == 0 || ((range->bytes[whole] ^ bytes[whole]) >> (8 - rest)) == 0;
}

bool network_has(const struct network *network, const char *address)
{
	uint8_t bytes[NETWORK_BYTES];
	bool is_v4 = false;

	if (!parse_address(address, bytes, &is_v4))
		return false;
	for (size_t i = 0; i < network->count; i++)
		if (is_in(&network->ranges[i], bytes))
			return true;
	return false;
}

bool network_is_address(const char *text)
{
	uint8_t bytes[NETWORK_BYTES];
	bool is_v4 = false;

	return parse_address(text, bytes, &is_v4);
}
