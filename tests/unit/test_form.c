/* Fields of forms and of flat JSON objects. */
#include <string.h>

#include "common/base/text.h"
#include "console/form.h"
#include "tests/support/runner.h"

static struct form *form;

static void read(const char *body)
{
	struct error error = { .text = "" };

	ck_assert_msg(form_read(body, strlen(body), &form, &error) == RESULT_OK, "%s: %s", body,
		error.text);
}

START_TEST(fields_are_decoded_and_may_stand_there_twice)
{
	read("id=1&id=2&reason=a+b%26c%3D%e4%bd%a0&empty=&");
	ck_assert_uint_eq(form_count(form), 4);
	ck_assert_str_eq(form_get(form, "id"), "1");
	ck_assert_str_eq(form_get_at(form, "id", 1), "2");
	ck_assert_ptr_null(form_get_at(form, "id", 2));
	ck_assert_str_eq(form_text(form, "reason"), "a b&c=\xe4\xbd\xa0");
	ck_assert_str_eq(form_get(form, "empty"), "");
	ck_assert_ptr_null(form_get(form, "other"));
	ck_assert_str_eq(form_text(form, "other"), "");
	ck_assert_str_eq(form_text(NULL, "other"), "");
	form_destroy(&form);
	ck_assert_ptr_null(form);
}
END_TEST

START_TEST(what_is_no_form_is_refused_whole)
{
	static const char *const wrong[] = { "a=1&b", "a=%", "a=%4", "a=%zz", "a=%00", "%00=a" };
	struct error error = { .text = "" };
	char many[4096] = "";

	for (size_t i = 0; i < ARRAY_LENGTH(wrong); i++) {
		ck_assert_int_eq(
			form_read(wrong[i], strlen(wrong[i]), &form, &error), RESULT_PERMANENT);
		ck_assert_ptr_null(form);
	}
	ck_assert_int_eq(form_read("a=1\0&b=2", 8, &form, &error), RESULT_PERMANENT);
	for (size_t i = 0; i <= FORM_FIELD_MAX; i++)
		(void)text_copy(many + i * 4, 5, "a=1&");
	ck_assert_int_eq(form_read(many, strlen(many), &form, &error), RESULT_PERMANENT);
}
END_TEST

START_TEST(json_gives_texts_numbers_and_lists_of_them)
{
	static const char body[] =
		"{\"id\":[\"1\",2],\"reason\":\"x\",\"deep\":{\"a\":1},\"n\":null,\"count\":7}";
	struct error error = { .text = "" };
	char many[1024] = "";
	char body_of_many[1100];

	ck_assert_int_eq(form_read_json(body, strlen(body), &form, &error), RESULT_OK);
	ck_assert_str_eq(form_get_at(form, "id", 1), "2");
	ck_assert_str_eq(form_get(form, "count"), "7");
	ck_assert_ptr_null(form_get(form, "deep"));
	ck_assert_ptr_null(form_get(form, "n"));
	form_destroy(&form);
	ck_assert_int_eq(form_read_json("", 0, &form, &error), RESULT_OK);
	ck_assert_uint_eq(form_count(form), 0);
	form_destroy(&form);
	for (size_t i = 0; i < FORM_FIELD_MAX; i++)
		(void)text_copy(many + strlen(many), 5, i == 0 ? "1" : ",1");
	(void)text_format(body_of_many, sizeof(body_of_many), "{\"id\":[%s]}", many);
	ck_assert_int_eq(
		form_read_json(body_of_many, strlen(body_of_many), &form, &error), RESULT_OK);
	ck_assert_uint_eq(form_count(form), FORM_FIELD_MAX);
	form_destroy(&form);
	(void)text_format(body_of_many, sizeof(body_of_many), "{\"id\":[%s,1]}", many);
	ck_assert_int_eq(form_read_json(body_of_many, strlen(body_of_many), &form, &error),
		RESULT_PERMANENT);
	ck_assert_ptr_null(form);
	ck_assert_int_eq(form_read_json("[]", 2, &form, &error), RESULT_PERMANENT);
	ck_assert_int_eq(form_read_json("{", 1, &form, &error), RESULT_PERMANENT);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		fields_are_decoded_and_may_stand_there_twice,
		what_is_no_form_is_refused_whole,
		json_gives_texts_numbers_and_lists_of_them,
	};

	return runner_run("form", tests, ARRAY_LENGTH(tests));
}
