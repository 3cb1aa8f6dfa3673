#include "common/report/alert_body.h"

#include <inttypes.h>
#include <string.h>

#include "common/base/text.h"
#include "common/io/json.h"
#include "common/report/alert_words.h"

enum {
	KEY_SIZE = 256,
	WORDS_SIZE = 96,
	FINGERPRINT_SIZE = 16 + 1,
	DESCRIPTION_SIZE = ALERT_EXAMPLES_SIZE + ALERT_WORDS_SIZE,
};

static const char never[] = "0001-01-01T00:00:00Z";

/* What a message is about, whether it comes from rows or from all that fires. */
struct group {
	enum alert_kind kind;
	const char *ref;
	const char *task_kind;
};

static struct group group_of_row(const struct alert_row *row)
{
	return (struct group){ .kind = row->kind, .ref = row->ref, .task_kind = row->task_kind };
}

/* FNV-1a 64 over "<kind>\n<ref>", in hexadecimal digits. */
static void format_fingerprint(const struct alert_row *row, char digits[FINGERPRINT_SIZE])
{
	uint64_t hash = text_hash(TEXT_HASH_START, alert_kind_names[row->kind]);

	(void)text_format(digits, FINGERPRINT_SIZE, "%016" PRIx64,
		text_hash(text_hash(hash, "\n"), row->ref));
}

void alert_body_format_id(
	const struct alert_news *news, const char *receiver, char id[ALERT_BODY_ID_SIZE])
{
	uint64_t hash = text_hash(TEXT_HASH_START, receiver);

	for (size_t i = 0; i < news->count; i++) {
		const struct alert_row *row = news->rows[i];
		char words[WORDS_SIZE];

		(void)text_format(words, sizeof(words), "\n%" PRIu64 " %" PRIu32 " %s", row->id,
			row->fired_count, row->is_resolved ? row->resolved_at : row->fired_at);
		hash = text_hash(hash, words);
	}
	(void)text_format(id, ALERT_BODY_ID_SIZE, "msg_%016" PRIx64, hash);
}

static struct json *create_group_labels(const struct group *group)
{
	struct json *labels = json_create_object();

	json_set_text(labels, "alertname", alert_origin_rule(group->kind, group->ref));
	if (group->task_kind[0] != '\0')
		json_set_text(labels, "kind", group->task_kind);
	return labels;
}

/* severity NULL: it is not common to all. */
static struct json *create_labels(
	const struct group *group, const char *severity, const struct alert_origin *origin)
{
	struct json *labels = create_group_labels(group);

	if (severity != NULL)
		json_set_text(labels, "severity", severity);
	json_set_text(labels, "service", "lapse");
	json_set_text(labels, "env", origin->env);
	return labels;
}

static void set_unless_empty(struct json *object, const char *key, const char *value)
{
	if (value[0] != '\0')
		json_set_text(object, key, value);
}

static void set_runbook(
	struct json *annotations, const struct group *group, const struct alert_origin *origin)
{
	char url[ALERT_URL_SIZE];

	alert_origin_format_runbook(origin, group->kind, group->ref, url);
	set_unless_empty(annotations, "runbook_url", url);
}

static struct json *create_annotations(
	const struct alert_row *row, const struct alert_origin *origin)
{
	static const char *const ref_names[] = { "task_id", "order_no", "outbox_id", "rule" };
	struct json *annotations = json_create_object();
	struct group group = group_of_row(row);

	json_set_text(annotations, "summary", row->summary);
	json_set_text(annotations, "description", row->description);
	set_unless_empty(annotations, "order_no", row->order_no);
	json_set_text(annotations, ref_names[row->kind], row->ref);
	if (row->calls > 0)
		json_set_id(annotations, "calls", row->calls);
	set_runbook(annotations, &group, origin);
	return annotations;
}

static struct json *create_alert(const struct alert_row *row, const struct alert_origin *origin)
{
	struct group group = group_of_row(row);
	struct json *alert = json_create_object();
	struct json *labels = create_labels(&group, alert_severity_names[row->severity], origin);
	struct json *annotations = create_annotations(row, origin);
	char fingerprint[FINGERPRINT_SIZE];
	char url[ALERT_URL_SIZE];

	format_fingerprint(row, fingerprint);
	alert_origin_format_one(origin, row->kind, row->ref, url);
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
static void format_group_key(const struct group *group, char key[KEY_SIZE])
{
	const char *rule = alert_origin_rule(group->kind, group->ref);

	if (group->task_kind[0] == '\0')
		(void)text_format(key, KEY_SIZE, "{}:{alertname=\"%s\"}", rule);
	else
		(void)text_format(
			key, KEY_SIZE, "{}:{alertname=\"%s\",kind=\"%s\"}", rule, group->task_kind);
}

static const char *find_common_severity(const struct alert_news *news)
{
	for (size_t i = 1; i < news->count; i++)
		if (news->rows[i]->severity != news->rows[0]->severity)
			return NULL;
	return alert_severity_names[news->rows[0]->severity];
}

/* What is common to all rows of the group. */
static void set_group(struct json *root, const struct alert_news *news, const struct group *group)
{
	const char *severity = find_common_severity(news);
	struct json *group_labels = create_group_labels(group);
	struct json *common_labels = create_labels(group, severity, news->origin);
	struct json *annotations = json_create_object();
	size_t firing = alert_news_count_firing(news);
	char words[ALERT_WORDS_SIZE];
	char url[ALERT_URL_SIZE];

	alert_words_format_summary(group->kind, firing, news->count - firing, words);
	json_set_text(annotations, "summary", news->is_test ? news->rows[0]->summary : words);
	alert_origin_format_list(news->origin, group->kind, url);
	json_adopt(root, "groupLabels", &group_labels);
	json_adopt(root, "commonLabels", &common_labels);
	json_adopt(root, "commonAnnotations", &annotations);
	json_set_text(root, "externalURL", url);
}

char *alert_body_write(const struct alert_news *news, const char *receiver)
{
	struct group group = group_of_row(news->rows[0]);
	struct json *root = json_create_object();
	struct json *alerts = json_create_array();
	char key[KEY_SIZE];

	for (size_t i = 0; i < news->count; i++) {
		struct json *alert = create_alert(news->rows[i], news->origin);

		json_append_adopt(alerts, &alert);
	}
	format_group_key(&group, key);
	json_set_text(root, "version", "4");
	json_set_text(root, "groupKey", key);
	json_set_int(root, "truncatedAlerts", 0);
	json_set_text(root, "status", alert_news_count_firing(news) > 0 ? "firing" : "resolved");
	json_set_text(root, "receiver", receiver);
	set_group(root, news, &group);
	json_adopt(root, "alerts", &alerts);
	char *body = json_write(root);
	json_destroy(&root);
	return body;
}

struct group_alert {
	struct group group;
	const char *severity;
	const char *summary;
	const char *description;
	const char *starts_at;
	const char *ends_at;
};

static void append_group(
	struct json *alerts, const struct group_alert *item, const struct alert_origin *origin)
{
	struct json *alert = json_create_object();
	struct json *labels = create_labels(&item->group, item->severity, origin);
	struct json *annotations = json_create_object();
	char url[ALERT_URL_SIZE];

	json_set_text(annotations, "summary", item->summary);
	set_unless_empty(annotations, "description", item->description);
	set_runbook(annotations, &item->group, origin);
	alert_origin_format_list(origin, item->group.kind, url);
	json_adopt(alert, "labels", &labels);
	json_adopt(alert, "annotations", &annotations);
	set_unless_empty(alert, "startsAt", item->starts_at);
	set_unless_empty(alert, "endsAt", item->ends_at);
	set_unless_empty(alert, "generatorURL", url);
	json_append_adopt(alerts, &alert);
}

static void append_firing(struct json *alerts, const struct alert_firing *firing,
	const char *ends_at, const struct alert_origin *origin)
{
	char summary[ALERT_WORDS_SIZE];
	char more[ALERT_WORDS_SIZE] = "";
	char description[DESCRIPTION_SIZE];
	struct group_alert item = { .group = { firing->kind, firing->ref, firing->task_kind },
		.severity = alert_severity_names[firing->severity],
		.summary = summary,
		.description = description,
		.starts_at = firing->fired_at,
		.ends_at = ends_at };

	alert_words_format_summary(firing->kind, (size_t)firing->count, 0, summary);
	if (firing->count > ALERT_EXAMPLES_MAX)
		alert_words_format_more(
			origin->language, (size_t)firing->count - ALERT_EXAMPLES_MAX, more);
	(void)text_format(description, sizeof(description), "%s%s%s", firing->examples,
		more[0] == '\0' ? "" : ", ", more);
	if (firing->kind == ALERT_KIND_THRESHOLD)
		item.summary = firing->summary;
	append_group(alerts, &item, origin);
}

static bool fires_still(const struct alert_firing_list *list, const struct alert_row *row)
{
	for (size_t i = 0; list != NULL && i < list->count; i++) {
		const struct alert_firing *firing = &list->items[i];

		if (firing->kind == row->kind && text_equals(firing->task_kind, row->task_kind) &&
			text_equals(alert_origin_rule(firing->kind, firing->ref),
				alert_origin_rule(row->kind, row->ref)))
			return true;
	}
	return false;
}

static bool comes_again(const struct alert_news *news, size_t place)
{
	for (size_t i = place + 1; i < news->count; i++)
		if (alert_news_is_same_group(news->rows[place], news->rows[i]))
			return true;
	return false;
}

/* A row of a test fires until Alertmanager forgets it. */
static bool is_told_by_itself(const struct alert_news *news, size_t place)
{
	const struct alert_row *row = news->rows[place];

	return news->is_test ||
	       (row->is_resolved && !fires_still(news->firing, row) && !comes_again(news, place));
}

char *alert_body_write_groups(const struct alert_news *news)
{
	struct json *alerts = json_create_array();

	for (size_t i = 0; news->firing != NULL && i < news->firing->count; i++)
		append_firing(alerts, &news->firing->items[i], news->firing->later, news->origin);
	for (size_t i = 0; i < news->count; i++) {
		const struct alert_row *row = news->rows[i];
		const struct group_alert item = { .group = group_of_row(row),
			.severity = alert_severity_names[row->severity],
			.summary = row->summary,
			.description = "",
			.starts_at = row->fired_at,
			.ends_at = row->resolved_at };

		if (is_told_by_itself(news, i))
			append_group(alerts, &item, news->origin);
	}
	char *body = json_write(alerts);
	json_destroy(&alerts);
	return body;
}
