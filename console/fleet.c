#include "console/fleet.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/io/http.h"
#include "common/io/lookup.h"

enum {
	ROUND_MS = 10000,
	BUSY_MS = 20,
	PROBE_MS = 2000,
	LOOKUP_MS = 4000,
	CONCURRENCY = 16,
	ANSWER_MAX = 8192,
	URL_SIZE = 128,
};

struct members {
	struct fleet_member list[FLEET_MEMBER_MAX];
	size_t count;
	size_t asked; /* their probes have begun */
	size_t down;  /* counted when all have ended, as versions */
	size_t versions;
};

struct fleet {
	struct fleet_name names[FLEET_NAME_MAX];
	struct lookup *lookups[FLEET_NAME_MAX]; /* of each name; NULL: it has ended */
	bool is_late[FLEET_NAME_MAX];           /* it goes on, but this round does without */
	size_t name_count;
	struct http *http;
	struct members shown;
	struct members next;
	bool is_busy;
	uint64_t begun_ms;
	uint64_t ended_ms; /* 0: no round yet */
};

static enum result read_names(
	const char *setting, struct fleet_name *names, size_t *count_out, struct error *error)
{
	const char *place = setting == NULL ? "" : setting;
	struct fleet_name name;
	enum result result = RESULT_OK;

	for (*count_out = 0; (result = fleet_name_next(&place, &name, error)) != RESULT_NONE;) {
		if (result != RESULT_OK || *count_out == FLEET_NAME_MAX)
			return error_set(RESULT_PERMANENT, error,
				"LAPSE_CONSOLE_FLEET: is not a list of at most %d name:port",
				FLEET_NAME_MAX);
		names[(*count_out)++] = name;
	}
	return RESULT_OK;
}

enum result fleet_check(const char *setting, struct error *error)
{
	struct fleet_name *names = memory_allocate_array(FLEET_NAME_MAX, sizeof(*names));
	size_t count = 0;
	enum result result = read_names(setting, names, &count, error);

	free(names);
	return result;
}

void fleet_create(const char *setting, struct fleet **fleet_out)
{
	struct fleet *fleet = memory_allocate(sizeof(*fleet));
	struct error error;

	if (read_names(setting, fleet->names, &fleet->name_count, &error) != RESULT_OK)
		fleet->name_count = 0;
	http_create(CONCURRENCY, PROBE_MS, &fleet->http);
	*fleet_out = fleet;
}

void fleet_destroy(struct fleet **fleet)
{
	if (*fleet == NULL)
		return;
	for (size_t i = 0; i < (*fleet)->name_count; i++)
		lookup_destroy(&(*fleet)->lookups[i]);
	http_destroy(&(*fleet)->http);
	free(*fleet);
	*fleet = NULL;
}

static struct fleet_member *add_member(struct fleet *fleet, const struct fleet_name *name)
{
	if (fleet->next.count == FLEET_MEMBER_MAX)
		return NULL;
	struct fleet_member *member = &fleet->next.list[fleet->next.count++];
	*member = (struct fleet_member){ .is_ready = false };
	(void)text_copy(member->name, sizeof(member->name), name->host);
	return member;
}

static void add_addresses(struct fleet *fleet, size_t place)
{
	const struct fleet_name *name = &fleet->names[place];
	char addresses[LOOKUP_ADDRESS_MAX][LOOKUP_ADDRESS_SIZE];
	size_t count = 0;
	struct error error = { .text = "" };
	enum result result = lookup_take(fleet->lookups[place], addresses, &count, &error);
	struct fleet_member *member = NULL;

	if (result == RESULT_NONE && clock_now_ms() - fleet->begun_ms < LOOKUP_MS)
		return;
	/* One that is given up stays behind in memory, so a late one goes on. */
	if (result == RESULT_NONE)
		fleet->is_late[place] = true;
	else
		lookup_destroy(&fleet->lookups[place]);
	for (size_t i = 0; i < count; i++) {
		bool is_v6 = strchr(addresses[i], ':') != NULL;

		member = add_member(fleet, name);
		if (member == NULL)
			return;
		(void)text_format(member->address, sizeof(member->address),
			is_v6 ? "[%s]:%s" : "%s:%s", addresses[i], name->port);
	}
	if (count > 0 || (member = add_member(fleet, name)) == NULL)
		return;
	(void)text_copy(member->why, sizeof(member->why),
		result == RESULT_NONE ? "the name server does not answer" : error.text);
}

static void begin_round(struct fleet *fleet)
{
	fleet->is_busy = true;
	fleet->begun_ms = clock_now_ms();
	fleet->next.count = 0;
	fleet->next.asked = 0;
	for (size_t i = 0; i < fleet->name_count; i++) {
		fleet->is_late[i] = false;
		if (fleet->lookups[i] == NULL)
			lookup_start(fleet->names[i].host, &fleet->lookups[i]);
	}
}

static void ask(struct fleet *fleet)
{
	while (fleet->next.asked < fleet->next.count && http_count_free(fleet->http) > 0) {
		struct fleet_member *member = &fleet->next.list[fleet->next.asked++];
		char url[URL_SIZE];

		if (member->address[0] == '\0')
			continue;
		(void)text_format(url, sizeof(url), "http://%s/readyz?verbose", member->address);
		http_start(fleet->http, &(struct http_request){ .url = url,
						.answer_max = ANSWER_MAX,
						.time_limit_ms = PROBE_MS,
						.context = member });
	}
}

/* The first line: program and version. */
static void read_program(struct fleet_member *member, const char *line, size_t size)
{
	char text[FLEET_NAME_SIZE * 2];

	(void)text_clip(text, size + 1 < sizeof(text) ? size + 1 : sizeof(text), line, size);
	char *blank = strchr(text, ' ');
	if (blank != NULL)
		*blank++ = '\0';
	(void)text_copy(member->program, sizeof(member->program), text);
	(void)text_copy(member->version, sizeof(member->version), blank == NULL ? "" : blank);
}

/* Lines that begin with "[-]" are checks that are not well. */
static void read_checks(struct fleet_member *member, const char *body)
{
	size_t used = 0;

	for (const char *line = body; *line != '\0';) {
		size_t size = strcspn(line, "\n");

		if (text_starts_with(line, "[-]")) {
			if (used > 0 && used + 2 < sizeof(member->why))
				used += (size_t)text_copy(member->why + used, 3, "; ") * 2;
			size_t room = sizeof(member->why) - used;
			used += text_clip(member->why + used, size - 2 < room ? size - 2 : room,
				line + 3, size - 3);
		}
		line += size + (line[size] == '\n' ? 1 : 0);
	}
}

static void take_answers(struct fleet *fleet)
{
	struct http_answer answer;

	while (http_take_answer(fleet->http, &answer)) {
		struct fleet_member *member = answer.context;

		if (answer.failure != HTTP_FAILURE_NONE) {
			(void)text_format(
				member->why, sizeof(member->why), "no answer: %s", answer.error);
			continue;
		}
		member->is_there = true;
		member->is_ready = answer.status == 200;
		read_program(member, answer.body, strcspn(answer.body, "\n"));
		read_checks(member, answer.body);
	}
}

static bool is_awaited(const struct fleet *fleet, size_t place)
{
	return fleet->lookups[place] != NULL && !fleet->is_late[place];
}

static bool is_resolved(const struct fleet *fleet)
{
	for (size_t i = 0; i < fleet->name_count; i++)
		if (is_awaited(fleet, i))
			return false;
	return true;
}

static int compare_members(const void *left, const void *right)
{
	const struct fleet_member *one = left;
	const struct fleet_member *other = right;
	int order = strcmp(one->name, other->name);

	return order != 0 ? order : strcmp(one->address, other->address);
}

/* Is this the first one of its version? */
static bool is_first_of_version(const struct members *members, size_t place)
{
	const char *version = members->list[place].version;

	for (size_t i = 0; i < place; i++)
		if (text_equals(members->list[i].version, version))
			return false;
	return version[0] != '\0';
}

static void count_members(struct members *members)
{
	members->down = 0;
	members->versions = 0;
	for (size_t i = 0; i < members->count; i++) {
		members->down += members->list[i].is_there ? 0 : 1;
		members->versions += is_first_of_version(members, i) ? 1 : 0;
	}
}

/* Probes hold pointers into next, so it is shown only when all of them have ended. */
static void end_round(struct fleet *fleet)
{
	qsort(fleet->next.list, fleet->next.count, sizeof(fleet->next.list[0]), compare_members);
	fleet->shown.count = fleet->next.count;
	memcpy(fleet->shown.list, fleet->next.list,
		fleet->next.count * sizeof(fleet->next.list[0]));
	count_members(&fleet->shown);
	fleet->is_busy = false;
	fleet->ended_ms = clock_now_ms();
}

uint64_t fleet_work(struct fleet *fleet)
{
	uint64_t now_ms = clock_now_ms();

	if (fleet->name_count == 0)
		return ROUND_MS;
	if (!fleet->is_busy) {
		if (fleet->ended_ms != 0 && now_ms - fleet->ended_ms < ROUND_MS)
			return ROUND_MS - (now_ms - fleet->ended_ms);
		begin_round(fleet);
	}
	for (size_t i = 0; i < fleet->name_count; i++)
		if (is_awaited(fleet, i))
			add_addresses(fleet, i);
	ask(fleet);
	http_work(fleet->http, 0);
	take_answers(fleet);
	if (is_resolved(fleet) && fleet->next.asked == fleet->next.count &&
		http_count_running(fleet->http) == 0)
		end_round(fleet);
	return BUSY_MS;
}

size_t fleet_count(const struct fleet *fleet)
{
	return fleet->shown.count;
}

const struct fleet_member *fleet_at(const struct fleet *fleet, size_t place)
{
	return &fleet->shown.list[place];
}

uint64_t fleet_age_ms(const struct fleet *fleet)
{
	return fleet->ended_ms == 0 ? UINT64_MAX : clock_now_ms() - fleet->ended_ms;
}

bool fleet_is_configured(const struct fleet *fleet)
{
	return fleet->name_count > 0;
}

size_t fleet_count_down(const struct fleet *fleet)
{
	return fleet->shown.down;
}

size_t fleet_count_versions(const struct fleet *fleet)
{
	return fleet->shown.versions;
}
