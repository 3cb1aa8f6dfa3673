/* subscriber: the file of webhooks, and what is said about one that is wrong. */
#include <string.h>

#include <check.h>

#include "common/base/compiler.h"
#include "common/base/text.h"
#include "common/order/subscriber.h"
#include "tests/support/runner.h"

#define SECRET     "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="
#define OLD_SECRET "whsec_b2xk"

static struct subscriber_list list;

static void tear_down(void)
{
	subscriber_list_clear(&list);
}

static void parse(const char *text)
{
	struct error error = { .text = "" };

	ck_assert_msg(subscriber_list_parse(text, strlen(text), &list, &error) == RESULT_OK, "%s",
		error.text);
}

static void expect_refusal(const char *text, size_t size, const char *words)
{
	struct error error = { .text = "" };

	ck_assert_int_eq(subscriber_list_parse(text, size, &list, &error), RESULT_PERMANENT);
	ck_assert_msg(
		strstr(error.text, words) != NULL, "\"%s\" does not say %s", error.text, words);
	ck_assert_uint_eq(list.count, 0);
	ck_assert(!list.is_loaded);
}

START_TEST(each_line_names_a_subscriber)
{
	parse("# who is told what\n"
	      "\n"
	      "notify\tORDER_CLOSED,ORDER_PAID  http://127.0.0.1:9/a?b=c " SECRET " " OLD_SECRET
	      "\r\n"
	      "  coupons ORDER_CLOSED https://coupons.example/hooks " SECRET " # back they go");
	ck_assert(list.is_loaded);
	ck_assert_uint_eq(list.count, 2);
	ck_assert_str_eq(list.items[0].name, "coupons");
	ck_assert_str_eq(list.items[0].url, "https://coupons.example/hooks");
	ck_assert_str_eq(list.items[0].secret, SECRET);
	ck_assert_str_eq(list.items[1].name, "notify");
	ck_assert_str_eq(list.items[1].url, "http://127.0.0.1:9/a?b=c");
	ck_assert_str_eq(list.items[1].secret, SECRET " " OLD_SECRET);
	ck_assert_ptr_eq(subscriber_find(&list, "notify"), &list.items[1]);
	ck_assert_ptr_null(subscriber_find(&list, "Notify"));
}
END_TEST

START_TEST(a_subscriber_wants_the_types_it_names)
{
	parse("a ORDER_CLOSED,PAYMENT_MISMATCH http://a.example " SECRET);
	ck_assert(subscriber_wants(&list.items[0], "order.closed.v1"));
	ck_assert(subscriber_wants(&list.items[0], "payment.mismatch.v1"));
	ck_assert(!subscriber_wants(&list.items[0], "order.paid.v1"));
	ck_assert(!subscriber_wants(&list.items[0], "order.closed.v2"));
	ck_assert(!subscriber_wants(&list.items[0], ""));
}
END_TEST

START_TEST(a_star_wants_also_types_that_nobody_knows_yet)
{
	parse("a * http://a.example " SECRET);
	ck_assert(subscriber_wants(&list.items[0], "order.paid.v1"));
	ck_assert(subscriber_wants(&list.items[0], "order.shipped.v1"));
}
END_TEST

START_TEST(a_file_may_name_nobody)
{
	parse("");
	ck_assert(list.is_loaded);
	ck_assert_uint_eq(list.count, 0);
}
END_TEST

#define GOOD "a ORDER_PAID http://a.example " SECRET "\n"

static const struct {
	const char *text;
	const char *words;
} mistakes[] = {
	{ GOOD "b ORDER_PAID http://a.example", "line 2: is not: name, events, address" },
	{ "a ORDER_PAID http://a.example " SECRET " " SECRET " " SECRET, "line 1: is not: name" },
	{ "stock ORDER_PAID http://a.example " SECRET, "line 1: \"stock\" is no name" },
	{ "refund ORDER_PAID http://a.example " SECRET, "\"refund\" is no name" },
	{ "a:b ORDER_PAID http://a.example " SECRET, "\"a:b\" is no name" },
	{ "a/b ORDER_PAID http://a.example " SECRET, "\"a/b\" is no name" },
	{ "a234567890123456789012345678901234567890123456789 ORDER_PAID http://a.example " SECRET,
		"is no name" },
	{ "\n\n" GOOD GOOD, "line 4: \"a\" comes twice" },
	{ "a order.paid http://a.example " SECRET, "\"order.paid\" is no event type" },
	{ "a ORDER_PAID, http://a.example " SECRET, "\"\" is no event type" },
	{ "a ORDER_PAID,* http://a.example " SECRET, "\"*\" is no event type" },
	{ "a ORDER_PAID ftp://a.example " SECRET, "the address is no http" },
	{ "a ORDER_PAID http://a.example secret", "the secret is not whsec_<base64>" },
	{ "a ORDER_PAID http://a.example " SECRET " old", "the old secret is not whsec_<base64>" },
};

START_TEST(a_mistake_is_named_with_its_line)
{
	for (size_t i = 0; i < ARRAY_LENGTH(mistakes); i++)
		expect_refusal(mistakes[i].text, strlen(mistakes[i].text), mistakes[i].words);
}
END_TEST

START_TEST(a_secret_is_never_quoted)
{
	static const char text[] = "a ORDER_PAID http://user:pw@a.example not-a-secret";
	struct error error = { .text = "" };

	ck_assert_int_eq(
		subscriber_list_parse(text, strlen(text), &list, &error), RESULT_PERMANENT);
	ck_assert_ptr_null(strstr(error.text, "not-a-secret"));
	ck_assert_ptr_null(strstr(error.text, "pw@"));
}
END_TEST

START_TEST(zero_bytes_and_endless_lines_are_no_text)
{
	static const char zero[] = "a ORDER_PAID\0http://a.example " SECRET;
	static char longer[8192];

	expect_refusal(zero, sizeof(zero) - 1, "line 1: is too long, or holds a zero byte");
	memset(longer, 'a', sizeof(longer));
	expect_refusal(longer, sizeof(longer), "line 1: is too long");
}
END_TEST

START_TEST(there_is_a_limit_to_their_number)
{
	char text[(SUBSCRIBER_MAX + 1) * 100] = "";
	size_t used = 0;

	for (int i = 0; i <= SUBSCRIBER_MAX; i++) {
		(void)text_format(text + used, sizeof(text) - used,
			"s%d * http://a.example " OLD_SECRET "\n", i);
		used = strlen(text);
	}
	expect_refusal(text, used, "line 33: more than 32 subscribers");
}
END_TEST

START_TEST(a_file_that_is_not_there_is_no_mistake)
{
	struct error error = { .text = "" };

	parse(GOOD);
	ck_assert_int_eq(subscriber_list_reload("/nowhere/webhooks", &list, &error), RESULT_NONE);
	ck_assert_ptr_nonnull(strstr(error.text, "/nowhere/webhooks: No such file"));
	/* What was known before stays. */
	ck_assert_uint_eq(list.count, 1);
}
END_TEST

/* The file of docs/messages.md. */
START_TEST(the_file_of_the_document_can_be_read)
{
	struct error error = { .text = "" };

	ck_assert_msg(subscriber_list_read(TEST_SOURCE_DIR "/tests/data/webhooks", &list, &error) ==
			      RESULT_OK,
		"%s", error.text);
	ck_assert_uint_eq(list.count, 3);
	ck_assert_str_eq(list.items[2].name, "notify");
	ck_assert_str_eq(list.items[2].secret, "whsec_bmV3 whsec_b2xk");
}
END_TEST

int main(void)
{
	static const struct runner_fixture fixture = { NULL, tear_down };
	const TTest *const tests[] = {
		each_line_names_a_subscriber,
		a_subscriber_wants_the_types_it_names,
		a_star_wants_also_types_that_nobody_knows_yet,
		a_file_may_name_nobody,
		a_mistake_is_named_with_its_line,
		a_secret_is_never_quoted,
		zero_bytes_and_endless_lines_are_no_text,
		there_is_a_limit_to_their_number,
		a_file_that_is_not_there_is_no_mistake,
		the_file_of_the_document_can_be_read,
	};

	return runner_run_with("subscriber", &fixture, tests, ARRAY_LENGTH(tests));
}
