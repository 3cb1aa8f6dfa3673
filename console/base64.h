/*
 * base64 - decodes what a browser sends with Basic.
 */
#ifndef CONSOLE_BASE64_H
#define CONSOLE_BASE64_H

#include <stdbool.h>
#include <stddef.h>

/* NUL-terminated; false when text is no base64, holds a NUL byte or does not fit. */
bool base64_decode(const char *text, char *target, size_t target_size);

#endif
