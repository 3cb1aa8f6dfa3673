/* Every program ends on TERM from any state, inside its time, with 0 and nothing lost. */
#include <signal.h>

#include "tests/support/fleet.h"
#include "tests/support/process.h"
#include "tests/support/proxy.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"
#include "tests/support/shop.h"
#include "tests/support/wait_until.h"

enum {
	STOP_LIMIT_MS = 30000
};

static struct shop *shop;

static void set_up(void)
{
	static const char *const words[] = { "--delay", "200ms", NULL };

	shop_create(words, &shop);
}

static void tear_down(void)
{
	shop_destroy(&shop);
}

static const char *const sale[] = { "--orders=1500", "--rate=400", "--pay", "0.2", "--timeout",
	"1s", "--jitter", "1s", NULL };

/* Each daemon in turn is told to stop under load and takes its place again. */
START_TEST(a_stop_under_load_loses_nothing)
{
	struct fleet *fleet = shop_fleet(shop);
	struct process *members[FLEET_MEMBERS];

	for (int i = 0; i < FLEET_MEMBERS; i++)
		members[i] = fleet_start_one(fleet, (enum fleet_member)i);
	struct process *selling = shop_start_selling(shop, sale);
	while (process_is_alive(selling)) {
		enum fleet_member member = (enum fleet_member)runner_random(FLEET_MEMBERS - 1);

		(void)process_wait(selling, 200 + runner_random(300));
		process_signal(members[member], SIGTERM);
		int status = process_wait(members[member], STOP_LIMIT_MS);
		ck_assert_msg(status == 0, "member %d: status %d", (int)member, status);
		fleet_kill_one(fleet, members[member]);
		members[member] = fleet_start_one(fleet, member);
	}
	ck_assert_int_eq(process_wait(selling, 0), 0);
	shop_await_rest(shop);
	shop_verify(shop);
}
END_TEST

START_TEST(a_stop_while_every_server_is_away_is_a_stop)
{
	struct fleet *fleet = shop_fleet(shop);
	struct proxy *mysql = sandbox_proxy_mysql(fleet_sandbox(fleet));
	struct proxy *amqp = sandbox_proxy_amqp(fleet_sandbox(fleet));
	struct process *members[FLEET_MEMBERS];

	for (int i = 0; i < FLEET_MEMBERS; i++) {
		members[i] = fleet_start_one(fleet, (enum fleet_member)i);
		fleet_await_ready(fleet, (enum fleet_member)i, true);
	}
	proxy_refuse(mysql, true);
	proxy_refuse(amqp, true);
	for (int i = 0; i < FLEET_MEMBERS; i++)
		fleet_await_ready(fleet, (enum fleet_member)i, false);
	for (int i = 0; i < FLEET_MEMBERS; i++) {
		process_signal(members[i], SIGTERM);
		ck_assert_int_eq(process_wait(members[i], STOP_LIMIT_MS), 0);
	}
}
END_TEST

START_TEST(a_stop_while_no_server_answers_is_a_stop)
{
	struct fleet *fleet = shop_fleet(shop);
	struct proxy *mysql = sandbox_proxy_mysql(fleet_sandbox(fleet));
	struct proxy *amqp = sandbox_proxy_amqp(fleet_sandbox(fleet));
	struct process *members[FLEET_MEMBERS];

	for (int i = 0; i < FLEET_MEMBERS; i++) {
		members[i] = fleet_start_one(fleet, (enum fleet_member)i);
		fleet_await_ready(fleet, (enum fleet_member)i, true);
	}
	proxy_freeze(mysql, true);
	proxy_freeze(amqp, true);
	for (int i = 0; i < FLEET_MEMBERS; i++)
		process_signal(members[i], SIGTERM);
	for (int i = 0; i < FLEET_MEMBERS; i++)
		ck_assert_msg(process_wait(members[i], STOP_LIMIT_MS) == 0, "member %d", i);
}
END_TEST

START_TEST(a_signal_is_no_end_unless_it_asks_for_one)
{
	static const int harmless[] = { SIGHUP, SIGUSR1, SIGPIPE };
	struct fleet *fleet = shop_fleet(shop);

	for (int i = 0; i < FLEET_MEMBERS; i++) {
		struct process *member = fleet_start_one(fleet, (enum fleet_member)i);

		fleet_await_ready(fleet, (enum fleet_member)i, true);
		for (size_t j = 0; j < ARRAY_LENGTH(harmless); j++)
			process_signal(member, harmless[j]);
		ck_assert_int_eq(process_wait(member, 300), PROCESS_TIME_IS_UP);
	}
	sandbox_expect_all_alive(fleet_sandbox(fleet));
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		a_stop_under_load_loses_nothing,
		a_stop_while_every_server_is_away_is_a_stop,
		a_stop_while_no_server_answers_is_a_stop,
		a_signal_is_no_end_unless_it_asks_for_one,
	};
	const struct runner_fixture fixture = { set_up, tear_down };

	sandbox_need_servers();
	return runner_run_with("drain", &fixture, tests, ARRAY_LENGTH(tests));
}
