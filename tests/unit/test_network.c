/* Lists of address ranges, for proxies that are trusted. */
#include "common/base/compiler.h"
#include "console/network.h"
#include "tests/support/runner.h"

START_TEST(an_address_is_in_its_range_only)
{
	static const struct {
		const char *address;
		bool is_in;
	} cases[] = {
		{ "10.0.0.1", true },
		{ "10.255.255.255", true },
		{ "11.0.0.1", false },
		{ "9.255.255.255", false },
		{ "192.168.1.7", true },
		{ "192.168.1.6", false },
		{ "172.31.255.255", true },
		{ "172.32.0.0", false },
		{ "fd00::1", true },
		{ "fe00::1", false },
		{ "::1", false },
		{ "", false },
		{ "ten", false },
		{ "10.0.0.1, 10.0.0.2", false },
	};
	struct network network;

	ck_assert(network_parse("10.0.0.0/8, 192.168.1.7 172.16.0.0/12,fd00::/8", &network));
	for (size_t i = 0; i < ARRAY_LENGTH(cases); i++)
		ck_assert_msg(network_has(&network, cases[i].address) == cases[i].is_in, "%s",
			cases[i].address);
}
END_TEST

START_TEST(what_is_no_list_is_refused)
{
	static const char *const wrong[] = { "10.0.0.0/33", "10.0.0/8", "fd00::/129", "host",
		"10.0.0.0/", "10.0.0.0/-1",
		"0.0.0.0000000000000000000000000000000000000000000000000000000000000000" };
	struct network network;

	for (size_t i = 0; i < ARRAY_LENGTH(wrong); i++)
		ck_assert_msg(!network_parse(wrong[i], &network), "%s", wrong[i]);
	ck_assert(network_parse(NULL, &network));
	ck_assert(!network_has(&network, "127.0.0.1"));
	ck_assert(network_parse("0.0.0.0/0", &network));
	ck_assert(network_has(&network, "203.0.113.9"));
	ck_assert(!network_has(&network, "2001:db8::1"));
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		an_address_is_in_its_range_only,
		what_is_no_list_is_refused,
	};

	return runner_run("network", tests, ARRAY_LENGTH(tests));
}
