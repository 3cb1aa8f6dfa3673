/*
 * alert_robot - the bodies that chat robots take, and how they want to be signed.
 */
#ifndef COMMON_REPORT_ALERT_ROBOT_H
#define COMMON_REPORT_ALERT_ROBOT_H

#include <stdint.h>

#include "common/base/compiler.h"
#include "common/io/signature.h"
#include "common/report/alert_news.h"
#include "common/report/alert_target.h"

enum {
	/* Each base64 character may need three. */
	ALERT_ROBOT_SIGN_SIZE = 3 * SIGNATURE_BASE64_SIZE
};

/* Bodies are owned by the caller; each is within the limit of its service. */
MUST_USE char *alert_robot_write_dingtalk(
	const struct alert_target *target, const struct alert_news *news, uint64_t epoch_ms);
/* Signed inside when the target has a secret. */
MUST_USE char *alert_robot_write_feishu(
	const struct alert_target *target, const struct alert_news *news, uint64_t epoch_ms);
MUST_USE char *alert_robot_write_wecom(
	const struct alert_target *target, const struct alert_news *news, uint64_t epoch_ms);
MUST_USE char *alert_robot_write_slack(
	const struct alert_target *target, const struct alert_news *news, uint64_t epoch_ms);

/* HMAC-SHA256(secret, "<ms>\n<secret>") in base64, as it stands in a URL. */
void alert_robot_sign_dingtalk(
	const char *secret, uint64_t epoch_ms, char sign[ALERT_ROBOT_SIGN_SIZE]);
/* HMAC-SHA256("<s>\n<secret>", nothing) in base64. */
void alert_robot_sign_feishu(
	const char *secret, uint64_t epoch_s, char sign[SIGNATURE_BASE64_SIZE]);

#endif
