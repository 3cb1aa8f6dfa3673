#include "demo/stock/switches.h"

#include "common/base/log.h"
#include "common/base/text.h"
#include "common/io/httpd.h"
#include "common/io/json.h"
#include "demo/stock/misbehave.h"
#include "demo/stock/request.h"

enum {
	BODY_MAX = 4096,
	VALUE_SIZE = 2048,
};

void switches_answer(const struct misbehave *misbehave, struct httpd_answer *answer)
{
	struct json *root = json_create_object();
	char value[VALUE_SIZE];

	json_set_int(root, "code", REQUEST_CODE_OK);
	for (size_t i = 0; misbehave_names[i] != NULL; i++) {
		misbehave_get(misbehave, misbehave_names[i], value, sizeof(value));
		json_set_text(root, misbehave_names[i], value);
	}
	request_answer_json(answer, 200, &root);
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
	bool is_valid =
		json_parse(http->body, http->body_size, BODY_MAX, &root, &error) == RESULT_OK;

	for (size_t i = 0; is_valid && misbehave_names[i] != NULL; i++)
		is_valid = apply_switch(&changed, root, misbehave_names[i]);
	json_destroy(&root);
	if (!is_valid) {
		request_answer(answer, 400, 400, "a switch has no such value");
		return;
	}
	*misbehave = changed;
	log_info(log_event("misbehaviour_changed"));
	switches_answer(misbehave, answer);
}
