/*
 * alert_words - the words of messages to people, in the language of the console.
 */
#ifndef COMMON_REPORT_ALERT_WORDS_H
#define COMMON_REPORT_ALERT_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/report/alert_origin.h"

enum {
	ALERT_WORDS_SIZE = 160
};

/* "since 3 min", "over, after 3 min". */
void alert_words_format_state(enum alert_language language, bool is_resolved, uint64_t age_s,
	char words[ALERT_WORDS_SIZE]);
/* "stock_restore" in words; itself where there are none.  Borrowed. */
const char *alert_words_task_kind(enum alert_language language, const char *task_kind);
/* "6 calls". */
void alert_words_format_calls(
	enum alert_language language, uint32_t calls, char words[ALERT_WORDS_SIZE]);
/* "and 37 more". */
void alert_words_format_more(
	enum alert_language language, size_t count, char words[ALERT_WORDS_SIZE]);
/* "3 tasks need a person", "1 order resolved": firing or, when that is 0, resolved ones. */
void alert_words_format_summary(
	enum alert_kind kind, size_t firing, size_t resolved, char words[ALERT_WORDS_SIZE]);
/* The name of the link to the console. */
const char *alert_words_console(enum alert_language language);
/* What a test message says. */
const char *alert_words_test(enum alert_language language);

#endif
