#include "gateway/group.h"

#include "common/base/failpoint.h"
#include "common/base/text.h"
#include "common/io/db.h"
#include "common/io/db_group.h"
#include "gateway/context.h"
#include "gateway/counts.h"
#include "gateway/creations.h"
#include "gateway/database.h"
#include "gateway/payments.h"

/* A cancel is not among them: close_orders repeats and halves its transactions by itself. */
static bool is_member(const struct httpd_request *request)
{
	return text_equals(request->method, "POST") &&
	       (text_equals(request->path, "/v1/orders") ||
		       text_equals(request->path, "/v1/payments/notify"));
}

static bool begin(void *context)
{
	struct context *gateway = context;
	struct error error = { .text = "" };
	struct db *db = NULL;
	enum result result = database_use(gateway->database, &db, &error);

	if (result == RESULT_OK) {
		result = db_group_begin(db, &error);
		database_note(gateway->database, result, &error);
	}
	if (result != RESULT_OK)
		return false;
	gateway->grouped = db;
	counts_hold();
	return true;
}

static void settle(void *context)
{
	creations_settle(context);
	payments_settle(context);
}

static bool end(void *context)
{
	struct context *gateway = context;
	struct error error = { .text = "" };

	FAILPOINT("before_group_commit");
	enum result result = db_group_end(gateway->grouped, &error);
	gateway->grouped = NULL;
	database_note(gateway->database, result, &error);
	if (result == RESULT_OK)
		FAILPOINT("after_group_commit");
	counts_release(result == RESULT_OK);
	return result == RESULT_OK;
}

const struct httpd_group group_of_writes = { is_member, begin, settle, end };
