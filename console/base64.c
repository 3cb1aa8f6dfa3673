#include "console/base64.h"

#include <stdint.h>
#include <string.h>

static int value_of(char digit)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *place = digit == '\0' ? NULL : strchr(digits, digit);

	return place == NULL ? -1 : (int)(place - digits);
}

bool base64_decode(const char *text, char *target, size_t target_size)
{
	size_t length = strlen(text);
	uint32_t bits = 0;
	unsigned int count = 0;
	size_t size = 0;

	while (length > 0 && text[length - 1] == '=')
		length--;
	for (size_t i = 0; i < length; i++) {
		int value = value_of(text[i]);

		if (value < 0)
			return false;
		bits = (bits << 6) | (uint32_t)value;
		count += 6;
		if (count < 8)
			continue;
		count -= 8;
		char byte = (char)((bits >> count) & 0xff);
		if (byte == '\0' || size + 1 >= target_size)
			return false;
		target[size++] = byte;
	}
	if (size >= target_size)
		return false;
	target[size] = '\0';
	return true;
}
