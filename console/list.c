#include "console/list.h"

#include "common/base/text.h"
#include "common/io/json.h"
#include "common/service/database.h"
#include "console/ledger.h"
#include "console/list_page.h"
#include "console/respond.h"

static void answer_json(struct visit *visit, const struct listing_page *page)
{
	struct json *root = json_create_object();
	struct json *rows = listing_page_to_json(page);
	const char *next = listing_page_next(page);

	json_adopt(root, "rows", &rows);
	json_set_text(root, "next", next[0] == '\0' ? NULL : next);
	json_set_text(root, "filter", listing_page_words(page));
	respond_json(visit, 200, &root);
}

bool list_read_and_check(
	struct visit *visit, const struct listing_kind *kind, struct list_request *request)
{
	struct error error = { .text = "" };
	enum result result = list_read_request(visit, request, &error);

	if (result == RESULT_OK)
		result = listing_check(kind, &request->request, &error);
	if (result != RESULT_OK)
		respond_problem(visit, 400, PHRASE("This filter cannot be."), error.text);
	return result == RESULT_OK;
}

void list_show(struct visit *visit)
{
	const struct list_view *view = list_find(visit);
	const struct listing_kind *kind = listing_find(view->kind);
	struct list_request request;
	struct listing_page *page = NULL;
	struct error error = { .text = "" };

	if (!list_read_and_check(visit, kind, &request))
		return;
	if (!visit->is_api && !database_is_there(visit->context->database)) {
		list_page_answer_unknown(
			visit, view, &request, database_trouble(visit->context->database));
		return;
	}
	struct db *db = ledger_open(visit);
	if (db == NULL)
		return;
	enum result result = listing_read(db, kind, &request.request, &page, &error);
	ledger_close(visit, result, &error);
	if (result == RESULT_OK && visit->is_api)
		answer_json(visit, page);
	else if (result == RESULT_OK)
		list_page_answer(visit, view, &request, page);
	else if (result == RESULT_TEMPORARY && !visit->is_api)
		list_page_answer_unknown(visit, view, &request, error.text);
	else
		respond_failure(visit, result, &error);
	listing_page_destroy(&page);
}
