/*
 * subscriber - who is told about which events, where, and signed with what: LAPSE_WEBHOOKS_FILE.
 *
 *     # name   events                   address                            secret  [old secret]
 *     coupons  ORDER_CLOSED             http://coupons.example/hooks       whsec_MDEyMzQ1Njc4OWFi
 *     notify   ORDER_CLOSED,ORDER_PAID  https://notify.example/v1/hooks    whsec_bmV3  whsec_b2xk
 *     audit    *                        https://audit.example/events       whsec_c2VjcmV0
 *
 * One subscriber a line, words with blanks or tabs between.  Addresses may hold a credential, so
 * they are never logged.
 */
#ifndef COMMON_ORDER_SUBSCRIBER_H
#define COMMON_ORDER_SUBSCRIBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/result.h"

struct settings_report;

enum {
	SUBSCRIBER_MAX = 32,
	SUBSCRIBER_NAME_SIZE = 48 + 1,
	SUBSCRIBER_FILE_MAX = 262144, /* bytes */
};

struct subscriber {
	char name[SUBSCRIBER_NAME_SIZE]; /* of [A-Za-z0-9._-]: what stands in column target */
	uint32_t types;                  /* bits by place in event_types */
	bool wants_all;                  /* also those nobody knows yet */
	char *url;
	char *secret; /* "whsec_new", or "whsec_new whsec_old" while it is being replaced */
};

/* All zero bytes is an empty list. */
struct subscriber_list {
	struct subscriber items[SUBSCRIBER_MAX]; /* by name */
	size_t count;
	bool is_loaded; /* a file has been read, even if nobody stands in it */
};

/*
 * Reads the file; the caller clears list_out in any case.  NONE, with words: it cannot be opened.
 * PERMANENT: it names the line that cannot be understood; list_out is empty then.
 */
MUST_USE enum result subscriber_list_read(
	const char *path, struct subscriber_list *list_out, struct error *error);
/* The same for a text, which need not be NUL-terminated. */
MUST_USE enum result subscriber_list_parse(
	const char *text, size_t size, struct subscriber_list *list_out, struct error *error);
void subscriber_list_clear(struct subscriber_list *list);

/*
 * Reads the file again and takes what it says; the list stays as it is when that is not possible,
 * and the error is the same.  Subscribers found before are not valid after an OK.
 */
MUST_USE enum result subscriber_list_reload(
	const char *path, struct subscriber_list *list, struct error *error);

/* For the check of settings: a file that is there has to be right.  path may be NULL. */
void subscriber_check_file(const char *path, struct settings_report *report);

/* NULL: there is none of this name. */
const struct subscriber *subscriber_find(const struct subscriber_list *list, const char *name);
/* version_type: "order.closed.v1". */
bool subscriber_wants(const struct subscriber *subscriber, const char *version_type);

#endif
