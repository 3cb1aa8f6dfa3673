#include "tests/support/console.h"

#include <limits.h>
#include <string.h>

#include <check.h>

#include "common/base/compiler.h"
#include "common/base/text.h"
#include "tests/support/http_client.h"
#include "tests/support/process.h"
#include "tests/support/query.h"
#include "tests/support/sandbox.h"
#include "tests/support/scratch.h"
#include "tests/support/wait_until.h"

enum {
	PROBE_MS = 1000
};

/* "secret", with few rounds so that tests are quick. */
#define HASH                                                                       \
	"$6$rounds=1000$lapse$8OT.GhNAfGl6NXDYg5qMYYbF.QP.lvTCeOwQzK4xhR1ED3daxE/" \
	"nZRA7cmS9xA2hYcep8xVO5Q77ILuTQi7Zk1\n"

static const struct {
	const char *name;
	const char *header;
} people[] = {
	{ "vera", "Authorization: Basic dmVyYTpzZWNyZXQ=\r\n" },
	{ "olga", "Authorization: Basic b2xnYTpzZWNyZXQ=\r\n" },
	{ "otto", "Authorization: Basic b3R0bzpzZWNyZXQ=\r\n" },
	{ "anna", "Authorization: Basic YW5uYTpzZWNyZXQ=\r\n" },
	{ "robot", "Authorization: Bearer " CONSOLE_TOKEN "\r\n" },
};

static const char *header_of(const char *person)
{
	for (size_t i = 0; person != NULL && i < ARRAY_LENGTH(people); i++)
		if (text_equals(people[i].name, person))
			return people[i].header;
	return "";
}

/* Asked without a name it answers 401. */
static bool is_answering(void *context)
{
	const struct console_run *console = context;

	ck_assert_msg(process_is_alive(console->process), "lapse-console did not start");
	return http_client_get(console->port, "/", PROBE_MS, NULL) == 401;
}

void console_start(struct console_run *console, struct sandbox *sandbox)
{
	char path[PATH_MAX];

	console->sandbox = sandbox;
	console->port = sandbox_free_port();
	sandbox_set(sandbox, "LAPSE_CONSOLE_ADDR", "127.0.0.1:%u", console->port);
	sandbox_set(sandbox, "LAPSE_CONSOLE_SECRET", "%s", CONSOLE_SECRET);
	scratch_write("users",
		"# people\nvera:viewer:" HASH "olga:operator:" HASH "otto:operator:" HASH
		"anna:admin:" HASH "proxied:operator:*\n",
		path);
	sandbox_set(sandbox, "LAPSE_CONSOLE_USERS_FILE", "%s", path);
	scratch_write("tokens",
		"robot:operator:"
		"2a013eaad3d81d4286a104b67479a3fed2f1cf68d4c9a9933fee3a2beb4e354f\n",
		path);
	sandbox_set(sandbox, "LAPSE_CONSOLE_TOKENS_FILE", "%s", path);
	api_client_create(console->port, &console->client);
	console->process = sandbox_start(sandbox, "lapse-console", NULL);
	WAIT_UNTIL(is_answering, console);
}

void console_leave(struct console_run *console)
{
	api_client_destroy(&console->client);
}

const struct api_answer *console_get_with(
	struct console_run *console, const char *person, const char *path, const char *headers)
{
	char lines[CONSOLE_TEXT_SIZE];

	(void)text_format(lines, sizeof(lines), "%s%s", header_of(person), headers);
	return api_client_call(console->client,
		&(struct api_request){ .method = "GET", .path = path, .headers = lines });
}

const struct api_answer *console_get(
	struct console_run *console, const char *person, const char *path)
{
	return console_get_with(console, person, path, "");
}

const struct api_answer *console_post(
	struct console_run *console, const char *person, const struct console_form *form)
{
	char lines[CONSOLE_TEXT_SIZE];

	(void)text_format(lines, sizeof(lines),
		"%s%sContent-Type: application/x-www-form-urlencoded\r\n", header_of(person),
		form->headers == NULL ? CONSOLE_SAME : form->headers);
	return api_client_call(console->client, &(struct api_request){ .method = "POST",
							.path = form->path,
							.headers = lines,
							.body = form->fields });
}

const struct api_answer *console_call(struct console_run *console, const char *person,
	const char *path, const char *json, const char *headers)
{
	char lines[CONSOLE_TEXT_SIZE];

	(void)text_format(lines, sizeof(lines), "%s%sContent-Type: application/json\r\n",
		header_of(person), headers);
	return api_client_call(console->client,
		&(struct api_request){
			.method = "POST", .path = path, .headers = lines, .body = json });
}

/* The value of a hidden field of the form that begins at place; false: it has no such field. */
static bool find_hidden(const char *place, const char *name, char value_out[256])
{
	char start[64];

	(void)text_format(start, sizeof(start), "name=\"%s\" value=\"", name);
	const char *found = strstr(place, start);
	const char *end = strstr(place, "</form>");
	if (found == NULL || (end != NULL && found > end))
		return false;
	found += strlen(start);
	size_t size = strcspn(found, "\"");
	ck_assert_uint_lt(size, 256);
	memcpy(value_out, found, size);
	value_out[size] = '\0';
	return true;
}

static void take_hidden(const char *place, const char *name, char value_out[256])
{
	ck_assert_msg(find_hidden(place, name, value_out), "no hidden field %s", name);
}

void console_take_form(struct console_run *console, const char *person, const char *page,
	const char *path, char fields_out[CONSOLE_TEXT_SIZE])
{
	const struct api_answer *answer = console_get(console, person, page);
	char action[256];
	char token[256];
	char id[256];
	char rule_set[256];

	console_expect(answer, 200, "");
	(void)text_format(action, sizeof(action), "method=\"post\" action=\"%s\"", path);
	const char *form = strstr(answer->body, action);
	ck_assert_msg(form != NULL, "no form to %s: %.2000s", path, answer->body);
	take_hidden(form, "csrf", token);
	take_hidden(form, "request_id", id);
	(void)text_format(fields_out, CONSOLE_TEXT_SIZE, "csrf=%s&request_id=%s", token, id);
	/* What was shown, where a page sends it along. */
	if (find_hidden(form, "rule_set", rule_set)) {
		size_t used = strlen(fields_out);

		(void)text_format(
			fields_out + used, CONSOLE_TEXT_SIZE - used, "&rule_set=%s", rule_set);
	}
}

const struct api_answer *console_submit(struct console_run *console, const char *person,
	const char *page, const char *path, const char *fields)
{
	char all[CONSOLE_TEXT_SIZE];

	console_take_form(console, person, page, path, all);
	size_t size = strlen(all);
	ck_assert(text_format(all + size, sizeof(all) - size, "&%s", fields));
	return console_post(console, person, &(struct console_form){ .path = path, .fields = all });
}

#define SQL_HOSTILE "'<script>alert(1)</script>\"''&<img src=x onerror=alert(2)>'"

void console_fill(struct query *query)
{
	query_run(query,
		"INSERT INTO t_order (order_no, user_id, amount_cents, expire_time) VALUES "
		"('OPEN-1', 4711, 9900, UTC_TIMESTAMP(3) + INTERVAL 1 HOUR), "
		"('OPEN-2', 4711, 9900, UTC_TIMESTAMP(3) + INTERVAL 1 HOUR);"
		"INSERT INTO t_order (order_no, user_id, amount_cents, expire_time, status, "
		"pay_time) VALUES ('PAID-1', 4711, 9900, UTC_TIMESTAMP(3) + INTERVAL 1 HOUR, "
		"'PAID', UTC_TIMESTAMP(3))");
	console_fill_dead(query, "CLOSED-", 1);
	query_run(query,
		"INSERT INTO t_order_item (order_id, sku_id, quantity) SELECT id, 'SKU-1', 2 FROM "
		"t_order;"
		"INSERT INTO t_outbox_event (event_type, order_no, status, sent_at, last_error) "
		"SELECT 'ORDER_CREATED', order_no, 'SENT', UTC_TIMESTAMP(3), " SQL_HOSTILE
		" FROM t_order;"
		"INSERT INTO t_payment (channel, trade_no, order_no, amount_cents, currency, "
		"outcome, refund_state) VALUES ('pay', 'T1', 'CLOSED-1', 9900, 'CNY', 'LATE', "
		"'PENDING');"
		"INSERT INTO t_timeout_rule (tenant, channel, timeout_seconds) VALUES (" SQL_HOSTILE
		", 'app', 900)");
}

void console_fill_dead(struct query *query, const char *prefix, unsigned int count)
{
	for (unsigned int i = 1; i <= count; i++)
		query_run(query,
			"INSERT INTO t_order (order_no, user_id, amount_cents, expire_time, "
			"status, close_time, close_reason, close_source) VALUES ('%s%u', "
			"4711, 9900, UTC_TIMESTAMP(3) - INTERVAL 1 HOUR, 'CLOSED', "
			"UTC_TIMESTAMP(3) - INTERVAL 1 HOUR, 'TIMEOUT', 'message');"
			"INSERT INTO t_compensation (kind, target, idempotency_key, order_no, "
			"payload, status, calls, retry_count, last_error) VALUES ('STOCK_RESTORE', "
			"'stock', 'restore:%s%u:1', '%s%u', '{\"sku_id\":\"SKU-1\"}', 'DEAD', 6, "
			"5, " SQL_HOSTILE ");"
			"INSERT INTO t_alert (kind, ref, severity, labels, annotations) SELECT "
			"'TASK_DEAD', id, 'warning', '{}', JSON_OBJECT('summary', " SQL_HOSTILE
			") FROM t_compensation WHERE order_no = '%s%u'",
			prefix, i, prefix, i, prefix, i, prefix, i);
}

/* From the heading on, where there is one: what comes before is the same on every page. */
void console_expect(const struct api_answer *answer, unsigned int status, const char *words)
{
	const char *heading = strstr(answer->body, "<main");

	ck_assert_msg(answer->status == status && strstr(answer->body, words) != NULL,
		"%u, not %u with %s: %.800s %.2000s", answer->status, status, words, answer->head,
		heading == NULL ? answer->body : heading);
}

void console_expect_done(struct console_run *console, const struct api_answer *answer,
	const char *person, const char *words)
{
	char location[CONSOLE_LOCATION_SIZE] = "";

	ck_assert_msg(
		answer->status == CONSOLE_SEE_OTHER, "%u %.2000s", answer->status, answer->body);
	ck_assert(api_client_header(answer, "Location", location, sizeof(location)));
	console_expect(console_get(console, person, location), 200, words);
}
