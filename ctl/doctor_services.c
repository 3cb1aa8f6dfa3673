#include "ctl/doctor_services.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/io/http.h"
#include "common/io/lookup.h"
#include "common/service/fleet_name.h"
#include "ctl/ask.h"
#include "ctl/finding.h"
#include "ctl/session.h"

enum {
	ADDRESS_SIZE = 512,
	VERSION_SIZE = 64,
	LOOKUP_LIMIT_MS = 3000,
	TURN_MS = 20,
	METRICS_MAX = 1048576,
	CLOCK_WARN_S = 5,
};

/* Any answer will do: it is there.  Nothing is tried, since it would change something. */
static void check_service(
	const char *url, const char *name, const char *variable, struct finding_list *list)
{
	struct ask_answer answer;

	if (!http_is_url(url)) {
		finding_fail(list, name, "%s is not http:// or https:// with a host", variable);
		return;
	}
	ask(url, 0, &answer);
	if (answer.status != 0)
		finding_ok(list, name, "the %s service answers (%s, any will do)",
			text_equals(name, "stock") ? "product" : name, answer.words);
	else
		finding_fail(list, name,
			"the %s service does not answer: %s; check %s, tasks wait until it does",
			text_equals(name, "stock") ? "product" : name, answer.words, variable);
	ask_clear(&answer);
}

void doctor_check_services(const struct session *session, struct finding_list *list)
{
	const struct session_settings *settings = session->settings;

	if (settings->stock_url == NULL)
		finding_warn(list, "stock",
			"LAPSE_STOCK_URL is not set: lapse-retry cannot give stock back");
	else
		check_service(settings->stock_url, "stock", "LAPSE_STOCK_URL", list);
	if (settings->refund_url == NULL)
		finding_ok(list, "refund",
			"LAPSE_REFUND_URL is not set here: refunds wait unless lapse-retry has it");
	else
		check_service(settings->refund_url, "refund", "LAPSE_REFUND_URL", list);
}

/* ---- fleet */

/* What the addresses of all names have said. */
struct fleet {
	struct finding_list *list;
	char version[VERSION_SIZE]; /* of the first that told one */
	bool is_mixed;
	size_t ready;
	size_t troubled;
};

/* "lapse-consumer 1.2.0" is the first line of an answer. */
static void note_version(struct fleet *fleet, const char *body)
{
	char version[VERSION_SIZE];
	size_t size = strcspn(body, "\n");
	const char *blank = memchr(body, ' ', size);

	if (blank == NULL)
		return;
	(void)text_clip(version, sizeof(version), blank + 1, size - (size_t)(blank + 1 - body));
	if (fleet->version[0] == '\0')
		(void)text_copy(fleet->version, sizeof(fleet->version), version);
	fleet->is_mixed = fleet->is_mixed || !text_equals(fleet->version, version);
}

/* The lines that begin with "[-]" say why it is not ready. */
static void find_reason(const char *body, char *reason, size_t reason_size)
{
	const char *start = strstr(body, "[-]");

	if (start != NULL)
		(void)text_clip(reason, reason_size, start, strcspn(start, "\n"));
}

static void write_url(
	char url[ADDRESS_SIZE], const char *address, unsigned int port, const char *path)
{
	bool is_ipv6 = strchr(address, ':') != NULL;

	(void)text_format(url, ADDRESS_SIZE, is_ipv6 ? "http://[%s]:%u%s" : "http://%s:%u%s",
		address, port, path);
}

/* The last turn of a loop that turns was within this second, by the clock of its host. */
static void check_clock(
	struct fleet *fleet, const char *name, const char *address, unsigned int port)
{
	static const char gauge[] = "\nlapse_loop_last_turn_timestamp_seconds ";
	char url[ADDRESS_SIZE];
	struct ask_answer answer;

	write_url(url, address, port, "/metrics");
	ask(url, METRICS_MAX, &answer);
	const char *line = strstr(answer.body, gauge);
	if (line != NULL) {
		double turn_s = strtod(line + strlen(gauge), NULL);
		double difference_s = turn_s - (double)clock_epoch_ms() / 1000;

		if (turn_s > 0 && (difference_s > CLOCK_WARN_S || difference_s < -CLOCK_WARN_S))
			finding_warn(fleet->list, "fleet_clock",
				"the clock of %.60s at %s:%u is %+.0f s from this host's, or its "
				"loop hangs: set both by NTP so that logs can be compared",
				name, address, port, difference_s);
	}
	ask_clear(&answer);
}

static void check_process(
	struct fleet *fleet, const char *name, const char *address, unsigned int port)
{
	char url[ADDRESS_SIZE];
	struct ask_answer answer;

	write_url(url, address, port, "/readyz?verbose");
	ask(url, 0, &answer);
	if (answer.status == 200) {
		fleet->ready++;
		check_clock(fleet, name, address, port);
	} else {
		char reason[VERSION_SIZE] = "";

		find_reason(answer.body, reason, sizeof(reason));
		finding_fail(fleet->list, "fleet",
			"%.60s at %s:%u is not ready: %s %s; look at its log", name, address, port,
			answer.words, reason);
		fleet->troubled++;
	}
	note_version(fleet, answer.body);
	ask_clear(&answer);
}

static enum result find_addresses(const char *name,
	char addresses[LOOKUP_ADDRESS_MAX][LOOKUP_ADDRESS_SIZE], size_t *count_out,
	struct error *error)
{
	uint64_t end_ms = clock_now_ms() + LOOKUP_LIMIT_MS;
	struct lookup *lookup = NULL;
	enum result result = RESULT_NONE;

	*count_out = 0;
	lookup_start(name, &lookup);
	while (result == RESULT_NONE && clock_now_ms() < end_ms) {
		result = lookup_take(lookup, addresses, count_out, error);
		if (result == RESULT_NONE)
			clock_wait_ms(TURN_MS);
	}
	lookup_destroy(&lookup);
	return result == RESULT_NONE ? error_set(RESULT_TEMPORARY, error, "time is up") : result;
}

static void check_name(struct fleet *fleet, const struct fleet_name *name)
{
	char(*addresses)[LOOKUP_ADDRESS_SIZE] =
		memory_allocate_array(LOOKUP_ADDRESS_MAX, LOOKUP_ADDRESS_SIZE);
	struct error error = { .text = "" };
	uint64_t port = 0;
	size_t count = 0;

	(void)text_parse_uint(name->port, 1, UINT16_MAX, &port);
	if (find_addresses(name->host, addresses, &count, &error) != RESULT_OK || count == 0) {
		finding_fail(fleet->list, "fleet", "%.60s has no address: %s; is it running?",
			name->host, error.text);
		fleet->troubled++;
	}
	for (size_t i = 0; i < count; i++)
		check_process(fleet, name->host, addresses[i], (unsigned int)port);
	free(addresses);
}

void doctor_check_fleet(const struct session *session, struct finding_list *list)
{
	const char *place = session->settings->fleet;
	struct fleet fleet = { .list = list };
	struct fleet_name name;
	struct error error = { .text = "" };
	enum result result = RESULT_OK;

	if (place == NULL) {
		finding_ok(list, "fleet", "LAPSE_CONSOLE_FLEET is not set here: nobody was asked");
		return;
	}
	while ((result = fleet_name_next(&place, &name, &error)) != RESULT_NONE) {
		if (result == RESULT_OK) {
			check_name(&fleet, &name);
			continue;
		}
		finding_fail(list, "fleet", "LAPSE_CONSOLE_FLEET: %s", error.text);
		fleet.troubled++;
	}
	if (fleet.is_mixed)
		finding_warn(list, "fleet_versions",
			"processes of several versions run: finish the update");
	if (fleet.troubled == 0)
		finding_ok(list, "fleet", "%zu processes are ready, version %s", fleet.ready,
			fleet.version);
}
