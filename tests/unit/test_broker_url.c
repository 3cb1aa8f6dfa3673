#include <string.h>

#include "common/io/broker.h"
#include "common/io/broker_url.h"
#include "tests/support/runner.h"

struct url_case {
	const char *text;
	const char *user, *password, *host, *vhost;
	uint16_t port;
	bool is_tls;
};

START_TEST(a_good_url_is_taken_apart)
{
	static const struct url_case cases[] = {
		{ "amqp://u:p@h:5672/vhost", "u", "p", "h", "vhost", 5672, false },
		{ "amqp://h", "guest", "guest", "h", "/", 5672, false },
		{ "amqp://h/", "guest", "guest", "h", "/", 5672, false },
		{ "amqp://h/%2F", "guest", "guest", "h", "/", 5672, false },
		{ "amqps://u:p@h", "u", "p", "h", "/", 5671, true },
		{ "amqps://u:p@h:1/v?ca=/x/ca.pem", "u", "p", "h", "v", 1, true },
		{ "amqp://u%40x:p%3A%2f%25@h:65535/a%2Fb", "u@x", "p:/%", "h", "a/b", 65535,
			false },
		{ "amqp://u:p@ss@h/v", "u", "p@ss", "h", "v", 5672, false },
		{ "amqp://u:@h/v", "u", "", "h", "v", 5672, false },
		{ "amqp://u@[::1]:5673/v", "u", "", "::1", "v", 5673, false },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
		const struct url_case *one = &cases[i];
		struct broker_url url = { 0 };
		struct error error = { 0 };

		ck_assert_msg(broker_url_parse(one->text, &url, &error) == RESULT_OK, "%s: %s",
			one->text, error.text);
		ck_assert_int_eq(url.is_tls, one->is_tls);
		ck_assert_str_eq(url.url.user, one->user);
		ck_assert_str_eq(url.url.password, one->password);
		ck_assert_str_eq(url.url.host, one->host);
		ck_assert_uint_eq(url.url.port, one->port);
		ck_assert_str_eq(url.url.path, one->vhost);
	}
}
END_TEST

START_TEST(the_system_set_of_certificates_is_used_unless_a_file_is_named)
{
	struct broker_url url = { 0 };

	ck_assert_int_eq(broker_url_parse("amqps://h", &url, NULL), RESULT_OK);
	ck_assert_str_eq(url.ca_file, "/etc/ssl/certs/ca-certificates.crt");
	ck_assert_int_eq(broker_url_parse("amqps://h?ca=/a%20b.pem", &url, NULL), RESULT_OK);
	ck_assert_str_eq(url.ca_file, "/a b.pem");
}
END_TEST

START_TEST(a_bad_url_is_refused_without_showing_the_password)
{
	static const char *const texts[] = {
		"",
		"h",
		"http://u:geheim@h/v",
		"mysql://u:geheim@h/v",
		"AMQP://u:geheim@h/v",
		"amqp:/u:geheim@h/v",
		"amqp://",
		"amqp://u:geheim@",
		"amqp://u:geheim@/v",
		"amqp://u:geheim@h:0/v",
		"amqp://u:geheim@h:65536/v",
		"amqp://u:geheim@h:x/v",
		"amqp://u:geheim/x@h:5672/v",
		"amqp://u:geheim",
		"amqp://u:geheim%@h/v",
		"amqp://u:geheim%4@h/v",
		"amqp://u:geheim%zz@h/v",
		"amqp://u:geheim%00@h/v",
		"amqp://u:geheim@[::1/v",
		"amqp://u:geheim@h/v?ca=/x",
		"amqps://u:geheim@h/v?tls=off",
		"amqps://u:geheim@h/v?ca=",
		"amqps://u:geheim@h/v?ca=/x&verify=off",
		"amqps://u:geheim@h/v?verify=off&ca=/x",
	};

	for (size_t i = 0; i < ARRAY_LENGTH(texts); i++) {
		struct broker_url url = { 0 };
		struct error error = { 0 };

		ck_assert_msg(broker_url_parse(texts[i], &url, &error) == RESULT_PERMANENT, "%s",
			texts[i]);
		ck_assert(error.text[0] != '\0');
		ck_assert(strstr(error.text, "geheim") == NULL);
	}
}
END_TEST

static size_t count_mistakes(const struct broker_settings *settings, bool is_required)
{
	struct settings_report *report = settings_report_create();

	broker_check_settings(settings, is_required, report);
	size_t count = settings_report_count(report);
	settings_report_destroy(&report);
	return count;
}

START_TEST(settings_are_checked_before_anything_is_opened)
{
	char url[] = "amqp://u:p@h/v";
	char bad_url[] = "amqp:u:p@h/v";
	char prefix[] = "lapse";
	char reserved[] = "amq.lapse";
	char blank[] = "la pse";
	struct broker_settings settings = { url, prefix, 20000 };

	ck_assert_uint_eq(count_mistakes(&settings, true), 0);
	settings.heartbeat_ms = 2500;
	ck_assert_uint_eq(count_mistakes(&settings, true), 1);
	settings = (struct broker_settings){ bad_url, reserved, 20000 };
	ck_assert_uint_eq(count_mistakes(&settings, true), 2);
	settings = (struct broker_settings){ NULL, blank, 20000 };
	ck_assert_uint_eq(count_mistakes(&settings, true), 2);
	ck_assert_uint_eq(count_mistakes(&settings, false), 1);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		a_good_url_is_taken_apart,
		the_system_set_of_certificates_is_used_unless_a_file_is_named,
		a_bad_url_is_refused_without_showing_the_password,
		settings_are_checked_before_anything_is_opened,
	};

	return runner_run("broker_url", tests, ARRAY_LENGTH(tests));
}
