#include "gateway/intake.h"

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/shutdown.h"
#include "common/io/db_group.h"
#include "gateway/access.h"
#include "gateway/context.h"
#include "gateway/counts.h"
#include "gateway/database.h"
#include "gateway/respond.h"

enum {
	STATUS_NOT_FOUND = 404,
	STATUS_METHOD_NOT_ALLOWED = 405,
	SERVED_AFTER_STOP_MS = 2000,
};

/* What has arrived is served a moment longer, then the program has to end. */
static bool is_too_late(struct context *context)
{
	uint64_t now_ms = clock_now_ms();

	if (!shutdown_is_requested())
		return false;
	if (context->stop_ms == 0)
		context->stop_ms = now_ms;
	return now_ms - context->stop_ms >= SERVED_AFTER_STOP_MS;
}

void intake_fail(struct context *context, struct httpd_answer *answer, const char *what,
	enum result result, const struct error *error)
{
	const char *id = respond_request_id(answer);

	/* Not its fault: it is carried out again, for itself. */
	if (context->grouped != NULL && db_group_is_lost(context->grouped)) {
		respond_try_again(answer, "the common transaction is lost");
		return;
	}
	database_note(context->database, result, error);
	if (result == RESULT_TEMPORARY || result == RESULT_CONFLICT) {
		if (log_is_worth_repeating(&context->busy_count))
			log_warn(log_event("request_put_off"), log_text("what", what),
				log_text("request_id", id), log_text("error", error->text),
				log_uint("count", context->busy_count));
		respond_try_again(answer, "the database is away or busy");
		return;
	}
	log_error(log_event("request_failed"), log_text("what", what), log_text("request_id", id),
		log_text("error", error->text));
	respond_problem(answer, 500, "internal", "the request could not be carried out");
}

struct db *intake_connect(struct context *context, struct httpd_answer *answer)
{
	struct error error = { .text = "" };
	struct db *db = NULL;

	if (is_too_late(context)) {
		respond_try_again(answer, "this process is about to end");
		return NULL;
	}
	if (database_use(context->database, &db, &error) == RESULT_OK)
		return db;
	respond_try_again(answer, "the database is away");
	return NULL;
}

struct db *intake_begin(
	struct context *context, const struct httpd_request *request, struct httpd_answer *answer)
{
	respond_add_request_id(request, answer);
	if (!access_admit(context->access, request, answer))
		return NULL;
	return intake_connect(context, answer);
}

void intake_refuse(void *context, const struct httpd_request *request, struct httpd_answer *answer)
{
	unsigned int status = answer->status;

	(void)context;
	respond_add_request_id(request, answer);
	if (status == STATUS_NOT_FOUND)
		respond_problem(answer, status, "not_found", "there is nothing at this path");
	else if (status == STATUS_METHOD_NOT_ALLOWED)
		respond_problem(answer, status, "method_not_allowed",
			"this path has another method, see Allow");
	else
		respond_problem(answer, status, "too_large", "the body is longer than 64 KiB");
	counts_add_request(COUNTS_ROUTE_OTHER, status, clock_now_us());
}
