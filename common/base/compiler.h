/*
 * compiler - the only home of compiler attributes.
 */
#ifndef COMMON_BASE_COMPILER_H
#define COMMON_BASE_COMPILER_H

#define MUST_USE  __attribute__((warn_unused_result))
#define NO_RETURN __attribute__((noreturn))
#define PRINTF_LIKE(text_place, first_place) \
	__attribute__((format(printf, text_place, first_place)))
/* The last argument is NULL. */
#define NULL_ENDED          __attribute__((sentinel))
#define ARRAY_LENGTH(array) (sizeof(array) / sizeof((array)[0]))

#endif
