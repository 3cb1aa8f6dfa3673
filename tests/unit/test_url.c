#include <string.h>

#include "common/base/text.h"
#include "common/base/url.h"
#include "tests/support/runner.h"

START_TEST(every_part_is_found)
{
	struct url url;

	ck_assert(url_parse(
		"mysql://us%20er:p%40ss%2f@db.example:3307/la%70se?tls=off&ca=%2Fx", &url));
	ck_assert_str_eq(url.scheme, "mysql");
	ck_assert_str_eq(url.user, "us er");
	ck_assert_str_eq(url.password, "p@ss/");
	ck_assert_str_eq(url.host, "db.example");
	ck_assert_uint_eq(url.port, 3307);
	ck_assert(url.has_path);
	ck_assert_str_eq(url.path, "lapse");
	ck_assert_str_eq(url.query, "tls=off&ca=%2Fx");
}
END_TEST

START_TEST(parts_may_be_missing)
{
	struct url url;

	ck_assert(url_parse("amqp://host", &url));
	ck_assert_str_eq(url.user, "");
	ck_assert_str_eq(url.password, "");
	ck_assert_uint_eq(url.port, 0);
	ck_assert(!url.has_path);
	ck_assert_str_eq(url.path, "");
	ck_assert(url_parse("amqp://user@host/", &url));
	ck_assert_str_eq(url.user, "user");
	ck_assert_str_eq(url.password, "");
	ck_assert(url.has_path);
	ck_assert(url_parse("amqp://host?x=1", &url));
	ck_assert_str_eq(url.query, "x=1");
	ck_assert(url_parse("amqp://:@host", &url));
}
END_TEST

START_TEST(odd_passwords_are_understood)
{
	struct url url;

	ck_assert(url_parse("mysql://u:a:b@c@host:1/x", &url));
	ck_assert_str_eq(url.user, "u");
	ck_assert_str_eq(url.password, "a:b@c");
	ck_assert_str_eq(url.host, "host");
}
END_TEST

START_TEST(an_ipv6_address_stands_in_brackets)
{
	struct url url;

	ck_assert(url_parse("amqp://u:p@[::1]:5673/v", &url));
	ck_assert_str_eq(url.host, "::1");
	ck_assert_uint_eq(url.port, 5673);
	ck_assert(url_parse("amqp://[fe80::1]", &url));
	ck_assert_str_eq(url.host, "fe80::1");
	ck_assert_uint_eq(url.port, 0);
}
END_TEST

START_TEST(what_is_no_url_is_refused)
{
	static const char *const texts[] = { "", "host", "://host", "mysql:/host", "mysql://",
		"mysql://u:p@", "mysql://u:p@:3306/x", "mysql://h:0", "mysql://h:65536",
		"mysql://h:x", "mysql://h:", "mysql://h:33061234567", "mysql://[::1",
		"mysql://[]:1", "mysql://[::1]x", "mysql://u%4@h", "mysql://u%@h", "mysql://u%zz@h",
		"mysql://u%00@h", "mysql://h/%", "averyveryverylongscheme://h" };

	for (size_t i = 0; i < ARRAY_LENGTH(texts); i++) {
		struct url url;

		ck_assert_msg(!url_parse(texts[i], &url), "%s", texts[i]);
	}
}
END_TEST

START_TEST(parts_that_are_too_long_are_refused)
{
	static const char *const before[] = { "mysql://", "mysql://u:", "mysql://", "mysql://h/",
		"mysql://h?" };
	static const char *const behind[] = { "@h", "@h", "", "", "" };
	char text[2048];
	char longest[1024];
	struct url url;

	memset(longest, 'a', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	for (size_t i = 0; i < ARRAY_LENGTH(before); i++) {
		(void)text_format(text, sizeof(text), "%s%s%s", before[i], longest, behind[i]);
		ck_assert_msg(!url_parse(text, &url), "%.20s", text);
	}
}
END_TEST

START_TEST(a_value_of_the_query_is_found_and_decoded)
{
	struct url url;
	char value[8];

	ck_assert(url_parse("mysql://h/x?tls=off&ca=%2Fa%20b&empty=&long=123456789&tls=on", &url));
	ck_assert(url_find_query(&url, "tls", value, sizeof(value)));
	ck_assert_str_eq(value, "off");
	ck_assert(url_find_query(&url, "ca", value, sizeof(value)));
	ck_assert_str_eq(value, "/a b");
	ck_assert(url_find_query(&url, "empty", value, sizeof(value)));
	ck_assert_str_eq(value, "");
	ck_assert(!url_find_query(&url, "long", value, sizeof(value)));
	ck_assert(!url_find_query(&url, "t", value, sizeof(value)));
	ck_assert(!url_find_query(&url, "ls", value, sizeof(value)));
	ck_assert(!url_find_query(&url, "", value, sizeof(value)));
	ck_assert(url_parse("mysql://h", &url));
	ck_assert(!url_find_query(&url, "tls", value, sizeof(value)));
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		every_part_is_found,
		parts_may_be_missing,
		odd_passwords_are_understood,
		an_ipv6_address_stands_in_brackets,
		what_is_no_url_is_refused,
		parts_that_are_too_long_are_refused,
		a_value_of_the_query_is_found_and_decoded,
	};

	return runner_run("url", tests, ARRAY_LENGTH(tests));
}
