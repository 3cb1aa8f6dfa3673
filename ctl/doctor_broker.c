#include "ctl/doctor_broker.h"

#include <stdio.h>
#include <string.h>

#include "common/base/text.h"
#include "common/io/broker.h"
#include "common/order/topology.h"
#include "ctl/doctor_clock.h"
#include "ctl/doctor_policy.h"
#include "ctl/finding.h"
#include "ctl/queues.h"
#include "ctl/session.h"

/* At-least-once dead-lettering of quorum queues came with 3.10; the delay plugin loses its way
 * after a crash before 3.12. */
static void check_version(const char *server, bool uses_plugin, struct finding_list *list)
{
	unsigned int major = 0;
	unsigned int minor = 0;
	static const char rabbit[] = "RabbitMQ ";

	if (!text_starts_with(server, rabbit) ||
		/* NOLINTNEXTLINE(cert-err34-c): what cannot be read is judged below */
		sscanf(server + strlen(rabbit), "%3u.%3u", &major, &minor) != 2)
		finding_warn(list, "broker_version", "\"%s\" is no RabbitMQ we know", server);
	else if (major < 3 || (major == 3 && minor < 10))
		finding_fail(list, "broker_version", "%s is too old: 3.10 is the least", server);
	else if (uses_plugin && major == 3 && minor < 12)
		finding_warn(list, "broker_version",
			"%s: before 3.12 the delay plugin may stop delivering after a crash of the "
			"broker; the sweep closes then, but update, or set LAPSE_DELAY=levels",
			server);
	else
		finding_ok(list, "broker_version", "%s, client library %s", server,
			broker_library_version());
}

static void say_mode(
	const struct session *session, enum topology_mode mode, struct finding_list *list)
{
	enum topology_mode wanted = (enum topology_mode)session->settings->topology.delay;
	const char *name = topology_mode_names[mode];

	if (wanted == TOPOLOGY_MODE_AUTO)
		finding_ok(list, "delay_mode",
			"%s: LAPSE_DELAY=auto, and the broker %s exchange type "
			"x-delayed-message",
			name, mode == TOPOLOGY_MODE_PLUGIN ? "offers the" : "does not offer the");
	else
		finding_ok(list, "delay_mode", "%s: LAPSE_DELAY says so", name);
}

/* For a user who may not declare: the levels are there or they are not.  Whether everything has the
 * right type and arguments, those who may declare find out whenever they connect. */
static enum topology_mode look_for_levels(
	const struct session *session, struct broker *broker, struct finding_list *list)
{
	char name[BROKER_NAME_SIZE];
	struct error error = { 0 };
	uint32_t ready = 0;
	uint32_t consumers = 0;

	(void)text_format(name, sizeof(name), "%s.delay.00", session->settings->broker.prefix);
	enum result result = broker_ensure_connected(broker, &error);
	if (result == RESULT_OK)
		result = broker_count_queue(broker, name, &ready, &consumers, &error);
	if (result != RESULT_OK && result != RESULT_NONE) {
		finding_warn(list, "delay_mode", "cannot be told: %s", error.text);
		return TOPOLOGY_MODE_AUTO;
	}
	enum topology_mode mode = result == RESULT_OK ? TOPOLOGY_MODE_LEVELS : TOPOLOGY_MODE_PLUGIN;
	finding_ok(list, "delay_mode", "%s: the queues of the levels are %s",
		topology_mode_names[mode], result == RESULT_OK ? "there" : "not there");
	finding_ok(list, "topology",
		"left to those who may declare, as this user may not: producer and consumer "
		"compare it whenever they connect");
	return mode;
}

/* Declares again what is there, which compares type and arguments and changes nothing. */
static enum topology_mode check_topology(
	const struct session *session, struct broker *broker, struct finding_list *list)
{
	struct topology *topology = NULL;
	struct error error = { 0 };
	enum topology_mode mode = TOPOLOGY_MODE_AUTO;

	topology_create(&session->settings->topology, &session->settings->broker, &topology);
	enum result result = topology_declare(topology, broker, &error);
	if (result == RESULT_OK) {
		mode = topology_mode(topology);
		say_mode(session, mode, list);
		finding_ok(list, "topology", "exchanges, queues and bindings are as wanted");
	} else if (strstr(error.text, "ACCESS_REFUSED") != NULL) {
		mode = look_for_levels(session, broker, list);
	} else {
		finding_fail(list, "topology",
			"%s; nothing of yours is deleted: remove or rename what stands in the way, "
			"or set LAPSE_AMQP_PREFIX",
			error.text);
	}
	topology_destroy(&topology);
	return mode;
}

static void check_queues(
	const struct session *session, const struct queues *queues, struct finding_list *list)
{
	if (queues->due.consumers == 0)
		finding_fail(list, "consumers",
			"nobody reads the due queue, where %u timeouts wait: start lapse-consumer",
			queues->due.ready);
	else
		finding_ok(list, "consumers", "%u of the due queue, %u timeouts wait",
			queues->due.consumers, queues->due.ready);
	if (queues->parked.is_there && queues->parked.ready > 0)
		finding_warn(list, "parked",
			"%u messages are parked in %s.parked: each names its reason in a header",
			queues->parked.ready, session->settings->broker.prefix);
	else if (queues->parked.is_there)
		finding_ok(list, "parked", "none");
}

static void check_what_is_there(
	const struct session *session, const struct queues *queues, struct finding_list *list)
{
	struct broker *broker = NULL;
	struct error error = { 0 };
	enum topology_mode mode = TOPOLOGY_MODE_AUTO;

	broker_create(&session->settings->broker, "lapsectl doctor", &broker);
	if (broker_ensure_connected(broker, &error) == RESULT_OK)
		mode = check_topology(session, broker, list);
	else
		finding_fail(list, "broker", "%s", error.text);
	check_version(queues->server, mode == TOPOLOGY_MODE_PLUGIN, list);
	check_queues(session, queues, list);
	doctor_check_policies(session, list);
	doctor_check_broker_clock(session, broker, list);
	broker_disconnect(broker);
	broker_destroy(&broker);
}

void doctor_check_broker(const struct session *session, struct finding_list *list)
{
	struct queues queues;

	if (session->settings->topology.delay == TOPOLOGY_MODE_NONE) {
		finding_ok(list, "delay_mode", "none: LAPSE_DELAY says so, only the sweep closes");
		return;
	}
	queues_read(session->settings, &queues);
	if (!queues.is_configured) {
		finding_warn(list, "broker",
			"LAPSE_AMQP_URL is not set: without a broker only the sweep closes");
		return;
	}
	if (!queues.is_reachable || !queues.due.is_known) {
		finding_fail(list, "broker", "%s; check LAPSE_AMQP_URL and the broker",
			queues.error.text);
		return;
	}
	finding_ok(list, "broker", "connected");
	if (queues.due.is_there) {
		check_what_is_there(session, &queues, list);
		return;
	}
	check_version(queues.server, false, list);
	finding_fail(list, "topology",
		"%s.timeout.due is not there: start lapse-producer or lapse-consumer, "
		"which declare it",
		session->settings->broker.prefix);
}
