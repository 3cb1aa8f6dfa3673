/* listing: an export takes all pages, up to its limit. */
#include "common/base/compiler.h"
#include "common/report/listing.h"
#include "tests/support/claims.h"
#include "tests/support/query.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"

static struct sandbox *sandbox;
static struct query *query;

static void set_up(void)
{
	sandbox_create(SANDBOX_NO_BROKER, &sandbox);
	query = sandbox_query(sandbox);
}

static void tear_down(void)
{
	sandbox_destroy(&sandbox);
}

static enum result count_page(void *context, const struct listing_page *page, struct error *error)
{
	(void)error;
	*(size_t *)context += listing_page_count(page);
	return RESULT_OK;
}

START_TEST(an_export_ends_at_its_limit_and_says_so)
{
	const struct listing_request request = { .limit = 1 };
	struct claims_db ours;
	struct error error = { .text = "" };
	size_t number = 0;
	const struct listing_taker taker = { count_page, &number };
	bool is_cut = false;

	claims_connect(sandbox_mysql_url(sandbox), &ours);
	query_run(query, "INSERT INTO t_order (order_no, amount_cents) "
			 "SELECT CONCAT('E', seq), 5 FROM seq_1_to_10100");
	ck_assert_int_eq(
		listing_export(ours.db, listing_find("orders"), &request, &taker, &is_cut, &error),
		RESULT_OK);
	ck_assert_uint_eq(number, LISTING_EXPORT_MAX);
	ck_assert(is_cut);
	claims_disconnect(&ours);
}
END_TEST

int main(void)
{
	static const struct runner_fixture fixture = { set_up, tear_down };
	const TTest *const tests[] = { an_export_ends_at_its_limit_and_says_so };

	sandbox_need_servers();
	return runner_run_with("listing_export", &fixture, tests, ARRAY_LENGTH(tests));
}
