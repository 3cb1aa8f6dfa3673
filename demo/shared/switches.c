#include "demo/shared/switches.h"

#include <inttypes.h>

#include "common/base/log.h"
#include "common/base/text.h"
#include "common/io/httpd.h"
#include "common/io/json.h"
#include "demo/shared/misbehave.h"
#include "demo/shared/reply.h"

enum {
	BODY_MAX = 4096,
	VALUE_SIZE = 2048,
	HANG_MS = 120000, /* longer than any caller waits; the connection is gone for so long */
	CODE_REFUSED = 9, /* for no reason at all */
};

void switches_answer(const struct misbehave *misbehave, struct httpd_answer *answer)
{
	struct json *root = json_create_object();
	char value[VALUE_SIZE];

	json_set_int(root, "code", 0);
	for (size_t i = 0; misbehave_names[i] != NULL; i++) {
		misbehave_get(misbehave, misbehave_names[i], value, sizeof(value));
		json_set_text(root, misbehave_names[i], value);
	}
	reply_json(answer, 200, &root);
}

static bool apply_switch(struct misbehave *misbehave, const struct json *root, const char *name)
{
	const char *text = json_get_text(root, name);
	char number_text[MISBEHAVE_VALUE_SIZE];
	double number = 0;

	if (json_get(root, name) == NULL)
		return true;
	if (text == NULL && json_get_number(root, name, &number)) {
		(void)text_format(number_text, sizeof(number_text), "%g", number);
		text = number_text;
	}
	return text != NULL && misbehave_set(misbehave, name, text);
}

void switches_change(
	struct misbehave *misbehave, const struct httpd_request *http, struct httpd_answer *answer)
{
	struct misbehave changed = *misbehave;
	struct json *root = NULL;
	struct error error = { 0 };
	enum result result = json_parse(http->body, http->body_size, BODY_MAX, &root, &error);

	for (size_t i = 0; result == RESULT_OK && misbehave_names[i] != NULL; i++)
		if (!apply_switch(&changed, root, misbehave_names[i]))
			result = error_set(RESULT_PERMANENT, &error,
				"%s: no such value, see --help", misbehave_names[i]);
	json_destroy(&root);
	if (result != RESULT_OK) {
		reply(answer, 400, 400, error.text);
		return;
	}
	*misbehave = changed;
	log_info(log_event("misbehaviour_changed"));
	switches_answer(misbehave, answer);
}

static void set_retry_after(const struct misbehave *misbehave, struct httpd_answer *answer)
{
	char seconds[16];

	if (misbehave->retry_after_s == 0)
		return;
	(void)text_format(seconds, sizeof(seconds), "%" PRIu32, misbehave->retry_after_s);
	httpd_add_header(answer, "Retry-After", seconds);
}

bool switches_misbehave(
	const struct misbehave *misbehave, struct httpd_answer *answer, bool *works_out)
{
	enum misbehave_act act = misbehave_choose(misbehave);

	answer->delay_ms = misbehave->delay_ms;
	*works_out = act == MISBEHAVE_ACT_NONE || act == MISBEHAVE_ACT_LOSE;
	switch (act) {
	case MISBEHAVE_ACT_NONE:
		return false;
	case MISBEHAVE_ACT_FAIL:
		reply(answer, 500, 500, "failing on purpose");
		set_retry_after(misbehave, answer);
		return true;
	case MISBEHAVE_ACT_ERROR_CODE:
		reply(answer, 200, CODE_REFUSED, "refusing on purpose");
		return true;
	case MISBEHAVE_ACT_HANG:
		reply(answer, 500, 500, "too late on purpose");
		answer->delay_ms = HANG_MS;
		return true;
	case MISBEHAVE_ACT_LOSE:
		answer->drop_connection = true;
		return true;
	}
	return true;
}

bool switches_fail_for(
	const struct misbehave *misbehave, const char *sku_id, struct httpd_answer *answer)
{
	unsigned int status = misbehave_find_status(misbehave, sku_id);

	if (status == 0)
		return false;
	reply(answer, status, (int)status, "failing for this one on purpose");
	set_retry_after(misbehave, answer);
	return true;
}
