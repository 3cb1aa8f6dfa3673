#include "ctl/doctor_policy.h"

#include <string.h>

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/io/broker_url.h"
#include "common/io/json.h"
#include "ctl/ask.h"
#include "ctl/finding.h"
#include "ctl/session.h"

enum {
	MANAGEMENT_PORT = 15672,
	MANAGEMENT_TLS_PORT = 15671,
	ENCODED_SIZE = 3 * URL_PART_SIZE,
	ADDRESS_SIZE = 2048,
	ANSWER_MAX = 1048576,
};

/* Settings of a policy that take messages away, and what comes of them. */
static const struct {
	const char *key;
	const char *harm;
} traps[] = {
	{ "message-ttl", "messages end before they are read" },
	{ "expires", "the queue is deleted when nobody reads it" },
	{ "dead-letter-exchange", "messages go where nobody looks" },
	{ "dead-letter-routing-key", "messages go where nobody looks" },
};

/* A full queue must refuse, so that the publisher keeps the message. */
static const char *find_overflow(const struct json *policy)
{
	const char *overflow = json_get_text(policy, "overflow");
	bool has_length = json_get(policy, "max-length") != NULL ||
			  json_get(policy, "max-length-bytes") != NULL;

	if (!has_length || (overflow != NULL && text_starts_with(overflow, "reject-publish")))
		return NULL;
	return "a full queue throws its oldest messages away (set overflow to reject-publish)";
}

static bool judge_policy(const struct json *queue, const char *name, struct finding_list *list)
{
	const struct json *policy = json_get(queue, "effective_policy_definition");
	const char *policy_name = json_get_text(queue, "policy");
	const char *harm = json_is_object(policy) ? find_overflow(policy) : NULL;
	const char *key = "max-length";

	for (size_t i = 0; harm == NULL && json_is_object(policy) && i < ARRAY_LENGTH(traps); i++)
		if (json_get(policy, traps[i].key) != NULL) {
			key = traps[i].key;
			harm = traps[i].harm;
		}
	if (harm == NULL)
		return true;
	finding_fail(list, "policy",
		"policy \"%.60s\" sets %s on %.80s: %s; keep policies away from our queues",
		policy_name == NULL ? "?" : policy_name, key, name, harm);
	return false;
}

/* A quorum queue works while most of its members are there. */
static bool judge_leader(const struct json *queue, const char *name, struct finding_list *list)
{
	const char *type = json_get_text(queue, "type");
	const char *leader = json_get_text(queue, "leader");
	size_t members = json_count(json_get(queue, "members"));
	size_t online = json_count(json_get(queue, "online"));

	if (type == NULL || !text_equals(type, "quorum") || members == 0)
		return true;
	if (leader == NULL || leader[0] == '\0' || online * 2 <= members) {
		finding_fail(list, "queue_leader",
			"%.80s has %zu of %zu members and no leader: bring the nodes of the broker "
			"back; until then only the sweep closes",
			name, online, members);
		return false;
	}
	if (online < members)
		finding_warn(list, "queue_leader",
			"%.80s has %zu of %zu members: one more lost node may stop it", name,
			online, members);
	return online == members;
}

void doctor_judge_queues(const struct json *queues, const char *prefix, struct finding_list *list)
{
	bool has_good_policies = true;
	bool has_leaders = true;
	size_t ours = 0;

	for (size_t i = 0; i < json_count(queues); i++) {
		const struct json *queue = json_at(queues, i);
		const char *name = json_get_text(queue, "name");

		if (name == NULL || !text_starts_with(name, prefix) || name[strlen(prefix)] != '.')
			continue;
		ours++;
		has_good_policies = judge_policy(queue, name, list) && has_good_policies;
		has_leaders = judge_leader(queue, name, list) && has_leaders;
	}
	if (has_good_policies)
		finding_ok(list, "policy", "no policy takes messages from our %zu queues", ours);
	if (has_leaders)
		finding_ok(list, "queue_leader", "all quorum queues of ours are whole");
}

static bool write_address(const char *amqp_url, char address[ADDRESS_SIZE])
{
	struct broker_url broker;
	char user[ENCODED_SIZE] = "";
	char password[ENCODED_SIZE] = "";
	char vhost[ENCODED_SIZE] = "";
	bool is_written = false;

	if (broker_url_parse(amqp_url, &broker, NULL) == RESULT_OK &&
		url_append_encoded(user, sizeof(user), broker.url.user) &&
		url_append_encoded(password, sizeof(password), broker.url.password) &&
		url_append_encoded(vhost, sizeof(vhost), broker.url.path))
		is_written = text_format(address, ADDRESS_SIZE,
			strchr(broker.url.host, ':') == NULL ? "%s://%s:%s@%s:%d/api/queues/%s"
							     : "%s://%s:%s@[%s]:%d/api/queues/%s",
			broker.is_tls ? "https" : "http", user, password, broker.url.host,
			broker.is_tls ? MANAGEMENT_TLS_PORT : MANAGEMENT_PORT, vhost);
	memory_wipe(&broker, sizeof(broker));
	memory_wipe(password, sizeof(password));
	return is_written;
}

/* Not having the API is nothing wrong: the least user of the broker may not ask it. */
void doctor_check_policies(const struct session *session, struct finding_list *list)
{
	const struct broker_settings *settings = &session->settings->broker;
	char address[ADDRESS_SIZE] = "";
	struct json *queues = NULL;
	struct error error = { .text = "" };
	struct ask_answer answer;

	if (!write_address(settings->url, address))
		return;
	ask(address, ANSWER_MAX, &answer);
	memory_wipe(address, sizeof(address));
	if (answer.status == 200 && json_parse(answer.body, strlen(answer.body), ANSWER_MAX,
					    &queues, &error) == RESULT_OK)
		doctor_judge_queues(queues, settings->prefix, list);
	else
		finding_ok(list, "policy",
			"cannot tell: the management API of the broker does not answer this user "
			"(%s)",
			answer.words);
	json_destroy(&queues);
	ask_clear(&answer);
}
