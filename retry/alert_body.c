#include "retry/alert_body.h"

#include <inttypes.h>
#include <string.h>

#include "common/base/text.h"
#include "common/io/json.h"

enum {
	URL_SIZE = 640,
	KEY_SIZE = 256,
	WORDS_SIZE = 96,
};

static const uint64_t hash_start = UINT64_C(0xcbf29ce484222325);

static const char never[] = "0001-01-01T00:00:00Z";

/* Where the console shows the things of a kind: the list of those that need a person, and one. */
static const struct page {
	const char *list;
	const char *one; /* NULL: the list is all there is */
	const char *things;
} pages[] = {
	[ALERT_KIND_TASK_DEAD] = { "/tasks?state=DEAD", "/tasks/", "task" },
	[ALERT_KIND_ORDER_STUCK] = { "/orders?state=OVERDUE", "/orders/", "order" },
	[ALERT_KIND_OUTBOX_FAILED] = { "/outbox?state=FAILED", "/outbox/", "outbox row" },
	[ALERT_KIND_THRESHOLD] = { "/alerts", NULL, "rule" },
};

static uint64_t hash_text(uint64_t hash, const char *text)
{
	for (; *text != '\0'; text++)
		hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
	return hash;
}

static const char *find_rule_name(const struct alert_row *row)
{
	return row->kind == ALERT_KIND_THRESHOLD ? row->ref : alert_rule_names[row->kind];
}

bool alert_body_is_same_group(const struct alert_row *one, const struct alert_row *other)
{
	return one->kind == other->kind && text_equals(one->task_kind, other->task_kind) &&
	       text_equals(find_rule_name(one), find_rule_name(other));
}

void alert_body_format_fingerprint(
	const struct alert_row *row, char digits[ALERT_BODY_FINGERPRINT_SIZE])
{
	uint64_t hash = hash_text(hash_start, alert_kind_names[row->kind]);

	(void)text_format(digits, ALERT_BODY_FINGERPRINT_SIZE, "%016" PRIx64,
		hash_text(hash_text(hash, "\n"), row->ref));
}

void alert_body_format_id(const struct alert_row *const *rows, size_t count, const char *receiver,
	char id[ALERT_BODY_ID_SIZE])
{
	uint64_t hash = hash_text(hash_start, receiver);

	for (size_t i = 0; i < count; i++) {
		char words[WORDS_SIZE];

		(void)text_format(words, sizeof(words), "\n%" PRIu64 " %" PRIu32 " %s", rows[i]->id,
			rows[i]->fired_count,
			rows[i]->is_resolved ? rows[i]->resolved_at : rows[i]->fired_at);
		hash = hash_text(hash, words);
	}
	(void)text_format(id, ALERT_BODY_ID_SIZE, "msg_%016" PRIx64, hash);
}

static struct json *create_group_labels(const struct alert_row *row)
{
	struct json *labels = json_create_object();

	json_set_text(labels, "alertname", find_rule_name(row));
	if (row->task_kind[0] != '\0')
		json_set_text(labels, "kind", row->task_kind);
	return labels;
}

/* severity NULL: it is not common to all. */
static struct json *create_labels(
	const struct alert_row *row, const char *severity, const struct alert_origin *origin)
{
	struct json *labels = create_group_labels(row);

	if (severity != NULL)
		json_set_text(labels, "severity", severity);
	json_set_text(labels, "service", "lapse");
	json_set_text(labels, "env", origin->env);
	return labels;
}

static void format_page(
	const struct alert_origin *origin, const char *path, const char *ref, char url[URL_SIZE])
{
	size_t length = origin->console_url == NULL ? 0 : strlen(origin->console_url);

	url[0] = '\0';
	while (length > 0 && origin->console_url[length - 1] == '/')
		length--;
	if (length > 0)
		(void)text_format(
			url, URL_SIZE, "%.*s%s%s", (int)length, origin->console_url, path, ref);
}

static void set_unless_empty(struct json *object, const char *key, const char *value)
{
	if (value[0] != '\0')
		json_set_text(object, key, value);
}

static struct json *create_annotations(
	const struct alert_row *row, const struct alert_origin *origin)
{
	static const char *const ref_names[] = { "task_id", "order_no", "outbox_id", "rule" };
	struct json *annotations = json_create_object();
	char url[URL_SIZE];

	json_set_text(annotations, "summary", row->summary);
	json_set_text(annotations, "description", row->description);
	set_unless_empty(annotations, "order_no", row->order_no);
	json_set_text(annotations, ref_names[row->kind], row->ref);
	if (row->calls > 0)
		json_set_id(annotations, "calls", row->calls);
	if (origin->runbook_url != NULL) {
		(void)text_format(
			url, sizeof(url), "%s#%s", origin->runbook_url, find_rule_name(row));
		json_set_text(annotations, "runbook_url", url);
	}
	return annotations;
}

static struct json *create_alert(const struct alert_row *row, const struct alert_origin *origin)
{
	struct json *alert = json_create_object();
	struct json *labels = create_labels(row, alert_severity_names[row->severity], origin);
	struct json *annotations = create_annotations(row, origin);
	char fingerprint[ALERT_BODY_FINGERPRINT_SIZE];
	char url[URL_SIZE];
	const struct page *page = &pages[row->kind];

	alert_body_format_fingerprint(row, fingerprint);
	format_page(origin, page->one == NULL ? page->list : page->one,
		page->one == NULL ? "" : row->ref, url);
	json_set_text(alert, "status", row->is_resolved ? "resolved" : "firing");
	json_adopt(alert, "labels", &labels);
	json_adopt(alert, "annotations", &annotations);
	json_set_text(alert, "startsAt", row->fired_at);
	json_set_text(alert, "endsAt", row->is_resolved ? row->resolved_at : never);
	json_set_text(alert, "generatorURL", url);
	json_set_text(alert, "fingerprint", fingerprint);
	return alert;
}

/* {}:{alertname="LapseTaskDead",kind="stock_restore"} */
static void format_group_key(const struct alert_row *row, char key[KEY_SIZE])
{
	if (row->task_kind[0] == '\0')
		(void)text_format(key, KEY_SIZE, "{}:{alertname=\"%s\"}", find_rule_name(row));
	else
		(void)text_format(key, KEY_SIZE, "{}:{alertname=\"%s\",kind=\"%s\"}",
			find_rule_name(row), row->task_kind);
}

static const char *find_common_severity(const struct alert_row *const *rows, size_t count)
{
	for (size_t i = 1; i < count; i++)
		if (rows[i]->severity != rows[0]->severity)
			return NULL;
	return alert_severity_names[rows[0]->severity];
}

static size_t count_firing(const struct alert_row *const *rows, size_t count)
{
	size_t firing = 0;

	for (size_t i = 0; i < count; i++)
		firing += rows[i]->is_resolved ? 0 : 1;
	return firing;
}

static struct json *create_common_annotations(
	const struct alert_row *row, size_t firing, size_t count)
{
	struct json *annotations = json_create_object();
	size_t told = firing > 0 ? firing : count;
	char words[WORDS_SIZE];

	(void)text_format(words, sizeof(words), "%zu %s%s %s", told, pages[row->kind].things,
		told == 1 ? "" : "s",
		firing == 0 ? "resolved"
		: told == 1 ? "needs a person"
			    : "need a person");
	json_set_text(annotations, "summary", words);
	return annotations;
}

char *alert_body_write(const struct alert_row *const *rows, size_t count, const char *receiver,
	const struct alert_origin *origin)
{
	struct json *root = json_create_object();
	struct json *group_labels = create_group_labels(rows[0]);
	struct json *common_labels =
		create_labels(rows[0], find_common_severity(rows, count), origin);
	size_t firing = count_firing(rows, count);
	struct json *annotations = create_common_annotations(rows[0], firing, count);
	struct json *alerts = json_create_array();
	char key[KEY_SIZE];
	char url[URL_SIZE];

	for (size_t i = 0; i < count; i++) {
		struct json *alert = create_alert(rows[i], origin);

		json_append_adopt(alerts, &alert);
	}
	format_group_key(rows[0], key);
	format_page(origin, pages[rows[0]->kind].list, "", url);
	json_set_text(root, "version", "4");
	json_set_text(root, "groupKey", key);
	json_set_int(root, "truncatedAlerts", 0);
	json_set_text(root, "status", firing > 0 ? "firing" : "resolved");
	json_set_text(root, "receiver", receiver);
	json_adopt(root, "groupLabels", &group_labels);
	json_adopt(root, "commonLabels", &common_labels);
	json_adopt(root, "commonAnnotations", &annotations);
	json_set_text(root, "externalURL", url);
	json_adopt(root, "alerts", &alerts);
	char *body = json_write(root);
	json_destroy(&root);
	return body;
}
