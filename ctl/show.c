#include "ctl/show.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/io/json.h"
#include "common/report/record.h"
#include "ctl/session.h"

enum {
	NUMBER_SIZE = 24
};

/* The text of a value that is no list; owned by the caller. */
static char *describe(const struct json *value)
{
	const char *text = json_as_text(value);
	char number[NUMBER_SIZE];
	int64_t whole = 0;
	bool is_true = false;

	if (text != NULL) {
		size_t size = strlen(text);
		char *clean = memory_allocate(size + 1);

		(void)text_clip(clean, size + 1, text, size);
		return clean;
	}
	if (json_as_int(value, &whole)) {
		(void)text_format(number, sizeof(number), "%" PRId64, whole);
		return memory_copy_text(number);
	}
	if (json_as_bool(value, &is_true))
		return memory_copy_text(is_true ? "yes" : "no");
	if (json_is_object(value) || json_is_array(value))
		return json_write(value);
	return memory_copy_text("-");
}

/* ---- for people */

static void print_member(void *context, const char *key, const struct json *value)
{
	char *text = describe(value);

	(void)context;
	(void)printf("  %-18s %s\n", key, text);
	free(text);
}

/* One line for each row of a list; what is not there is left out. */
static void print_in_line(void *context, const char *key, const struct json *value)
{
	char *text = describe(value);

	(void)context;
	if (!text_equals(text, "-"))
		(void)printf(" %s=%s", key, text);
	free(text);
}

static void print_section(void *context, const char *key, const struct json *value)
{
	(void)context;
	if (json_is_object(value)) {
		(void)printf("%s\n", key);
		json_each(value, print_member, NULL);
	} else if (json_is_array(value)) {
		(void)printf("%s: %zu\n", key, json_count(value));
		for (size_t i = 0; i < json_count(value); i++) {
			(void)printf(" ");
			json_each(json_at(value, i), print_in_line, NULL);
			(void)printf("\n");
		}
	} else {
		char *text = describe(value);

		(void)printf("%s: %s\n", key, text);
		free(text);
	}
}

/* ---- for scripts: section, row, name, value */

struct place {
	const char *section;
	size_t row;
};

static void print_plain_member(void *context, const char *key, const struct json *value)
{
	const struct place *place = context;
	char *text = describe(value);

	(void)printf("%s\t%zu\t%s\t%s\n", place->section, place->row, key, text);
	free(text);
}

static void print_plain_section(void *context, const char *key, const struct json *value)
{
	struct place place = { .section = key };

	(void)context;
	if (json_is_object(value))
		json_each(value, print_plain_member, &place);
	for (; json_is_array(value) && place.row < json_count(value); place.row++)
		json_each(json_at(value, place.row), print_plain_member, &place);
}

static void print_json(const struct json *root)
{
	char *text = json_write(root);

	(void)printf("%s\n", text);
	free(text);
}

static void print(const struct session *session, const struct json *root)
{
	switch (session->output.form) {
	case OUTPUT_FORM_TEXT:
		json_each(root, print_section, NULL);
		return;
	case OUTPUT_FORM_PLAIN:
		json_each(root, print_plain_section, NULL);
		return;
	case OUTPUT_FORM_JSON:
		print_json(root);
		return;
	}
}

static int run(const struct session *session, const char *kind)
{
	struct error error = { .text = "" };
	struct json *root = NULL;
	uint64_t number = 0;
	bool is_named = text_equals(kind, "order") || text_equals(kind, "payment");

	if (session->operand_count != 1 ||
		(!is_named && !text_parse_uint(session->operands[0], 1, UINT64_MAX, &number))) {
		output_complain("show %s takes the id of one %s", kind, kind);
		return EXIT_STATUS_USAGE;
	}
	int status = session_connect_to_schema(session);
	if (status != EXIT_STATUS_OK)
		return status;
	enum result result =
		record_read(session->db, kind, session->operands[0], false, &root, &error);
	if (result == RESULT_OK)
		print(session, root);
	else
		status = session_fail(session, result, &error);
	json_destroy(&root);
	return status;
}

int show_task_run(const struct session *session)
{
	return run(session, "task");
}

int show_order_run(const struct session *session)
{
	return run(session, "order");
}

int show_outbox_run(const struct session *session)
{
	return run(session, "outbox");
}

int show_payment_run(const struct session *session)
{
	return run(session, "payment");
}

int show_rule_run(const struct session *session)
{
	return run(session, "rule");
}

int show_alert_run(const struct session *session)
{
	return run(session, "alert");
}

int show_audit_run(const struct session *session)
{
	return run(session, "audit");
}
