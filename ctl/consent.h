/*
 * consent - whether a single act may go on: --yes, or a person on a terminal who says so.
 */
#ifndef CTL_CONSENT_H
#define CTL_CONSENT_H

#include <stdbool.h>

#include "common/base/compiler.h"
#include "common/order/audit.h"
#include "ctl/session.h"

/* Before anything is opened: is there anybody who could say yes?  Else it complains. */
bool consent_is_possible(const struct session *session);
/* EXIT_STATUS_OK, or a complaint that nothing was changed. */
int consent_ask(const struct session *session, const char *format, ...) PRINTF_LIKE(2, 3);

/* Who acts, for the audit.  request_id is borrowed. */
struct audit_actor consent_actor(const struct session *session, const char *request_id);

#endif
