#include "common/report/alert_origin.h"

#include <string.h>

#include "common/base/text.h"

const char *const alert_language_names[] = { "en", "zh-CN", NULL };

/* Where the console shows the things of a kind: the list of those that need a person, and one. */
static const struct page {
	const char *list;
	const char *one; /* NULL: the list is all there is */
	const char *thing;
} pages[] = {
	[ALERT_KIND_TASK_DEAD] = { "/tasks?state=DEAD", "/tasks/", "task" },
	[ALERT_KIND_ORDER_STUCK] = { "/orders?state=OVERDUE", "/orders/", "order" },
	[ALERT_KIND_OUTBOX_FAILED] = { "/outbox?state=FAILED", "/outbox/", "outbox row" },
	[ALERT_KIND_THRESHOLD] = { "/alerts", NULL, "rule" },
};

const char *alert_origin_rule(enum alert_kind kind, const char *ref)
{
	return kind == ALERT_KIND_THRESHOLD ? ref : alert_rule_names[kind];
}

const char *alert_origin_thing(enum alert_kind kind)
{
	return pages[kind].thing;
}

static void format_page(const struct alert_origin *origin, const char *path, const char *ref,
	char url[ALERT_URL_SIZE])
{
	size_t length = origin->console_url == NULL ? 0 : strlen(origin->console_url);

	url[0] = '\0';
	while (length > 0 && origin->console_url[length - 1] == '/')
		length--;
	/* An address that does not fit whole leads nowhere. */
	if (length > 0 && !text_format(url, ALERT_URL_SIZE, "%.*s%s%s", (int)length,
				  origin->console_url, path, ref))
		url[0] = '\0';
}

void alert_origin_format_list(
	const struct alert_origin *origin, enum alert_kind kind, char url[ALERT_URL_SIZE])
{
	format_page(origin, pages[kind].list, "", url);
}

void alert_origin_format_one(const struct alert_origin *origin, enum alert_kind kind,
	const char *ref, char url[ALERT_URL_SIZE])
{
	const struct page *page = &pages[kind];

	format_page(origin, page->one == NULL ? page->list : page->one,
		page->one == NULL ? "" : ref, url);
}

void alert_origin_format_runbook(const struct alert_origin *origin, enum alert_kind kind,
	const char *ref, char url[ALERT_URL_SIZE])
{
	url[0] = '\0';
	if (origin->runbook_url != NULL &&
		!text_format(url, ALERT_URL_SIZE, "%s#%s", origin->runbook_url,
			alert_origin_rule(kind, ref)))
		url[0] = '\0';
}
