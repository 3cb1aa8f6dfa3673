/* Signature and body of payment notices. */
#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/io/signature.h"
#include "gateway/notice.h"
#include "tests/support/example.h"
#include "tests/support/runner.h"

enum {
	HEADER_SIZE = 2048,
	LONG_SIZE = 70000
};

#define SECRET "a secret of 24 characters"
#define OLD    "the secret before that one"
#define BODY   "{\"state\":\"paid\"}"
#define NOW_S  UINT64_C(1769853600)

static char header[HEADER_SIZE];

/* The digits of a good signature. */
static const char *sign(const char *secret, uint64_t time_s, const char *body)
{
	static char digits[SIGNATURE_HEX_SIZE];
	char text[512];

	(void)text_format(text, sizeof(text), "%llu.%s", (unsigned long long)time_s, body);
	signature_hex(digits, secret, strlen(secret), text, strlen(text));
	return digits;
}

static bool is_signed(const char *text)
{
	const struct notice_secrets secrets = { SECRET, OLD };

	return notice_is_signed(text, BODY, strlen(BODY), &secrets, NOW_S);
}

static bool is_signed_at(uint64_t time_s)
{
	(void)text_format(header, sizeof(header), "t=%llu,v1=%s", (unsigned long long)time_s,
		sign(SECRET, time_s, BODY));
	return is_signed(header);
}

START_TEST(a_signature_is_good_five_minutes_before_and_after)
{
	ck_assert(is_signed_at(NOW_S));
	ck_assert(is_signed_at(NOW_S - 300));
	ck_assert(is_signed_at(NOW_S + 300));
	ck_assert(!is_signed_at(NOW_S - 301));
	ck_assert(!is_signed_at(NOW_S + 301));
	ck_assert(!is_signed_at(0));
	ck_assert(!is_signed_at(UINT64_MAX));
}
END_TEST

START_TEST(the_example_of_the_document_is_good)
{
	const struct notice_secrets secrets = { "example-notify-secret", NULL };
	char *body = example_read("notice");

	ck_assert(notice_is_signed(
		"t=1769854864,v1=f09f52811a54eda19180de0da32c20252b916d1eb90611ed47b36f24e5357b94",
		body, strlen(body), &secrets, 1769854864));
	free(body);
}
END_TEST

START_TEST(the_old_secret_is_good_while_there_is_one)
{
	const struct notice_secrets without_old = { SECRET, NULL };

	(void)text_format(header, sizeof(header), "t=%llu,v1=%s", (unsigned long long)NOW_S,
		sign(OLD, NOW_S, BODY));
	ck_assert(is_signed(header));
	ck_assert(!notice_is_signed(header, BODY, strlen(BODY), &without_old, NOW_S));
}
END_TEST

START_TEST(one_good_signature_among_several_is_enough)
{
	(void)text_format(header, sizeof(header), "v0=abc,t=%llu,v1=00,v1=%064d,v1=%s,v2=x",
		(unsigned long long)NOW_S, 0, sign(SECRET, NOW_S, BODY));
	ck_assert(is_signed(header));
}
END_TEST

START_TEST(the_body_is_signed_byte_by_byte)
{
	const struct notice_secrets secrets = { SECRET, NULL };

	(void)text_format(header, sizeof(header), "t=%llu,v1=%s", (unsigned long long)NOW_S,
		sign(SECRET, NOW_S, BODY));
	ck_assert(notice_is_signed(header, BODY, strlen(BODY), &secrets, NOW_S));
	ck_assert(!notice_is_signed(header, BODY " ", strlen(BODY) + 1, &secrets, NOW_S));
	ck_assert(!notice_is_signed(header, BODY, strlen(BODY) - 1, &secrets, NOW_S));
	ck_assert(!notice_is_signed(header, "", 0, &secrets, NOW_S));
}
END_TEST

/* %s stands for the digits of a good signature at NOW_S. */
START_TEST(a_header_of_another_form_is_refused)
{
	static const char *const forms[] = {
		"",
		",",
		"t=1769853600",
		"v1=%s",
		"t=,v1=%s",
		"t=x,v1=%s",
		"t=-1769853600,v1=%s",
		"t= 1769853600,v1=%s",
		"t=1769853600.0,v1=%s",
		"t=17698536000000000000000000000000000000,v1=%s",
		"t=1769853600 ,v1=%s",
		"t=1769853600;v1=%s",
		"t=1769853600,v1:%s",
		"t=1769853600,v1=",
		"t=1769853600,v1= %s",
		"t=1769853600,v1=%s0",
		"t=1769853600,V1=%s",
		"t=1769853600,v0=%s",
		"t=1769853601,v1=%s",
		"t=1769853599,t=1769853600,v1=%s",
	};
	const char *good = sign(SECRET, NOW_S, BODY);

	ck_assert(!is_signed(NULL));
	for (size_t i = 0; i < ARRAY_LENGTH(forms); i++) {
		const char *place = strstr(forms[i], "%s");

		(void)text_format(header, sizeof(header), "%.*s%s%s",
			place == NULL ? (int)strlen(forms[i]) : (int)(place - forms[i]), forms[i],
			place == NULL ? "" : good, place == NULL ? "" : place + 2);
		ck_assert_msg(!is_signed(header), "%s", forms[i]);
	}
}
END_TEST

START_TEST(every_digit_of_a_signature_counts)
{
	for (size_t i = 0; i < SIGNATURE_HEX_SIZE - 1; i++) {
		char digits[SIGNATURE_HEX_SIZE];

		(void)text_copy(digits, sizeof(digits), sign(SECRET, NOW_S, BODY));
		digits[i] = digits[i] == '0' ? '1' : '0';
		(void)text_format(
			header, sizeof(header), "t=%llu,v1=%s", (unsigned long long)NOW_S, digits);
		ck_assert(!is_signed(header));
	}
}
END_TEST

/* Its beginning could be guessed digit by digit. */
START_TEST(a_part_of_a_signature_is_none)
{
	const char *digits = sign(SECRET, NOW_S, BODY);

	for (int i = 0; i < (int)SIGNATURE_HEX_SIZE - 1; i++) {
		(void)text_format(header, sizeof(header), "t=%llu,v1=%.*s",
			(unsigned long long)NOW_S, i, digits);
		ck_assert_msg(!is_signed(header), "%d digits", i);
	}
	(void)text_format(
		header, sizeof(header), "t=%llu,v1=%s0", (unsigned long long)NOW_S, digits);
	ck_assert(!is_signed(header));
}
END_TEST

START_TEST(a_header_that_is_too_long_is_refused)
{
	char padding[1100];

	memset(padding, 'a', sizeof(padding) - 1);
	padding[sizeof(padding) - 1] = '\0';
	(void)text_format(header, sizeof(header), "t=%llu,v1=%s,x=%s", (unsigned long long)NOW_S,
		sign(SECRET, NOW_S, BODY), padding);
	ck_assert(!is_signed(header));
}
END_TEST

/* ---- the body */

static struct notice notice;

static enum result read_text(const char *body)
{
	struct error error = { .text = "" };
	enum result result = notice_read(body, strlen(body), &notice, &error);

	/* The caller is told why. */
	ck_assert(result == RESULT_OK || (result == RESULT_PERMANENT && error.text[0] != '\0'));
	return result;
}

#define PAYMENT                                                                     \
	"\"channel\":\"alipay\",\"trade_no\":\"2026:T-1_x.9\",\"order_no\":\"A1\"," \
	"\"amount_cents\":9900,\"currency\":\"CNY\""

START_TEST(a_payment_is_read_whole)
{
	ck_assert_int_eq(
		read_text(
			"{\"state\":\"paid\",\"merchant_id\":\"m-1\",\"extra\":[{}]," PAYMENT "}"),
		RESULT_OK);
	ck_assert(notice.is_paid);
	ck_assert_str_eq(notice.state, "paid");
	ck_assert_str_eq(notice.merchant_id, "m-1");
	ck_assert_str_eq(notice.payment.channel, "alipay");
	ck_assert_str_eq(notice.payment.trade_no, "2026:T-1_x.9");
	ck_assert_str_eq(notice.payment.order_no, "A1");
	ck_assert_str_eq(notice.payment.currency, "CNY");
	ck_assert_int_eq(notice.payment.amount_cents, 9900);
}
END_TEST

/* PAY-2: whatever else it lacks. */
START_TEST(any_other_state_is_no_payment_and_no_mistake)
{
	static const char *const bodies[] = {
		"{\"state\":\"closed\"," PAYMENT "}",
		"{\"state\":\"refunded\",\"trade_no\":\"T1\",\"amount_cents\":-9900}",
		"{\"state\":\"\"}",
		"{\"state\":\"PAID\"," PAYMENT "}",
		"{\"state\":\"paid \"," PAYMENT "}",
		"{\"state\":\"a state whose name is longer than anybody would think\"}",
	};

	for (size_t i = 0; i < ARRAY_LENGTH(bodies); i++) {
		ck_assert_msg(read_text(bodies[i]) == RESULT_OK, "%s", bodies[i]);
		ck_assert(!notice.is_paid);
	}
}
END_TEST

START_TEST(a_payment_with_a_mistake_is_refused)
{
#define START "{\"state\":\"paid\","
#define KEYS  "\"channel\":\"c\",\"trade_no\":\"t\",\"order_no\":\"o\","
	static const char *const bodies[] = {
		"",
		"[]",
		"1",
		"{}",
		"{" PAYMENT "}",
		"{\"state\":1," PAYMENT "}",
		"{\"state\":null," PAYMENT "}",
		START "\"state\":\"paid\"," PAYMENT "}",
		START PAYMENT "",
		START PAYMENT "}x",
		START PAYMENT ",\"order_no\":\"A2\"}",
		START "\"merchant_id\":7," PAYMENT "}",
		START "\"channel\":\"a:b\",\"trade_no\":\"t\",\"order_no\":\"o\","
		      "\"amount_cents\":1,\"currency\":\"CNY\"}",
		START "\"channel\":\"123456789012345678901234567890123\",\"trade_no\":\"t\","
		      "\"order_no\":\"o\",\"amount_cents\":1,\"currency\":\"CNY\"}",
		START "\"channel\":\"c\",\"trade_no\":\"\",\"order_no\":\"o\","
		      "\"amount_cents\":1,\"currency\":\"CNY\"}",
		START "\"channel\":\"c\",\"trade_no\":\"t t\",\"order_no\":\"o\","
		      "\"amount_cents\":1,\"currency\":\"CNY\"}",
		START "\"channel\":\"c\",\"trade_no\":12,\"order_no\":\"o\","
		      "\"amount_cents\":1,\"currency\":\"CNY\"}",
		START "\"channel\":\"c\",\"trade_no\":\"t\",\"order_no\":\"o\\n\","
		      "\"amount_cents\":1,\"currency\":\"CNY\"}",
		START "\"channel\":\"c\",\"trade_no\":\"t\",\"order_no\":\"o\\u0000\","
		      "\"amount_cents\":1,\"currency\":\"CNY\"}",
		START KEYS "\"amount_cents\":-1,\"currency\":\"CNY\"}",
		START KEYS "\"amount_cents\":99.0,\"currency\":\"CNY\"}",
		START KEYS "\"amount_cents\":\"99\",\"currency\":\"CNY\"}",
		START KEYS "\"amount_cents\":9007199254740992,\"currency\":\"CNY\"}",
		START KEYS "\"amount_cents\":99999999999999999999,\"currency\":\"CNY\"}",
		START KEYS "\"amount_cents\":1e3,\"currency\":\"CNY\"}",
		START KEYS "\"currency\":\"CNY\"}",
		START KEYS "\"amount_cents\":1}",
		START KEYS "\"amount_cents\":1,\"currency\":\"cny\"}",
		START KEYS "\"amount_cents\":1,\"currency\":\"CN\"}",
		START KEYS "\"amount_cents\":1,\"currency\":\"CNYX\"}",
		START KEYS "\"amount_cents\":1,\"currency\":\"C.Y\"}",
		START KEYS "\"amount_cents\":1,\"currency\":\"\"}",
		START KEYS "\"amount_cents\":1,\"currency\":null}",
	};

	for (size_t i = 0; i < ARRAY_LENGTH(bodies); i++)
		ck_assert_msg(read_text(bodies[i]) == RESULT_PERMANENT, "%s", bodies[i]);
}
END_TEST

START_TEST(the_largest_amount_and_0_are_amounts)
{
	ck_assert_int_eq(
		read_text(START KEYS "\"amount_cents\":9007199254740991,\"currency\":\"CNY\"}"),
		RESULT_OK);
	ck_assert_int_eq(notice.payment.amount_cents, INT64_C(9007199254740991));
	ck_assert_int_eq(
		read_text(START KEYS "\"amount_cents\":0,\"currency\":\"CNY\"}"), RESULT_OK);
}
END_TEST

START_TEST(a_body_that_is_too_long_or_deep_is_refused)
{
	char *body = memory_allocate(LONG_SIZE + 1);

	memset(body, ' ', LONG_SIZE);
	(void)text_copy(body, LONG_SIZE, START PAYMENT "}");
	body[strlen(body)] = ' ';
	ck_assert_int_eq(read_text(body), RESULT_PERMANENT);
	memset(body, '[', LONG_SIZE / 2);
	body[LONG_SIZE / 2] = '\0';
	ck_assert_int_eq(read_text(body), RESULT_PERMANENT);
	free(body);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		a_signature_is_good_five_minutes_before_and_after,
		the_example_of_the_document_is_good,
		the_old_secret_is_good_while_there_is_one,
		one_good_signature_among_several_is_enough,
		the_body_is_signed_byte_by_byte,
		a_header_of_another_form_is_refused,
		every_digit_of_a_signature_counts,
		a_part_of_a_signature_is_none,
		a_header_that_is_too_long_is_refused,
		a_payment_is_read_whole,
		any_other_state_is_no_payment_and_no_mistake,
		a_payment_with_a_mistake_is_refused,
		the_largest_amount_and_0_are_amounts,
		a_body_that_is_too_long_or_deep_is_refused,
	};

	return runner_run("notice", tests, ARRAY_LENGTH(tests));
}
