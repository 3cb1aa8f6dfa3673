/*
 * bench-orders - creates or pays orders over one connection of the client library in a bare loop:
 * the statements of lapse-gateway and nothing else, no HTTP and no JSON.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mysql.h>

#include "common/base/clock.h"
#include "common/base/result.h"
#include "common/base/text.h"
#include "common/base/url.h"

enum {
	COUNT_MAX = 2000000,
	PARAM_MAX = 8,
	KEY_SIZE = 64 + 1,
};

static MYSQL *mysql;
static uint64_t order_id; /* of the turn */
static char order_no[KEY_SIZE];
static char trade_no[KEY_SIZE];
static char payload[256];

static void fail(const char *what, const char *why)
{
	(void)fprintf(stderr, "bench-orders: %s: %s\n", what, why);
	exit(EXIT_STATUS_FAILED);
}

static void run_text(const char *sql)
{
	if (mysql_real_query(mysql, sql, (unsigned long)strlen(sql)) != 0)
		fail(sql, mysql_error(mysql));
}

static void open_connection(void)
{
	struct url url;
	const char *text = getenv("LAPSE_MYSQL_URL");

	mysql = mysql_init(NULL);
	if (text == NULL || !url_parse(text, &url))
		fail("LAPSE_MYSQL_URL", "is not set");
	if (mysql_real_connect(
		    mysql, url.host, url.user, url.password, url.path, url.port, NULL, 0) == NULL)
		fail("connect", mysql_error(mysql));
	run_text("SET time_zone = '+00:00'");
	run_text("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED");
}

/* A text or, with text NULL, a number. */
static void bind(MYSQL_BIND *param, const char *text, uint64_t *number)
{
	memset(param, 0, sizeof(*param));
	param->buffer_type = text == NULL ? MYSQL_TYPE_LONGLONG : MYSQL_TYPE_STRING;
	if (text == NULL) {
		param->buffer = number;
		param->is_unsigned = 1;
		return;
	}
	memcpy(&param->buffer, &text, sizeof(text));
	param->buffer_length = (unsigned long)strlen(text);
}

static MYSQL_STMT *prepare(const char *sql)
{
	MYSQL_STMT *statement = mysql_stmt_init(mysql);

	if (mysql_stmt_prepare(statement, sql, (unsigned long)strlen(sql)) != 0)
		fail(sql, mysql_stmt_error(statement));
	return statement;
}

/* With its result read to the end, when it has one. */
static void execute(MYSQL_STMT *statement, MYSQL_BIND *params)
{
	if (mysql_stmt_bind_param(statement, params) != 0 || mysql_stmt_execute(statement) != 0)
		fail("execute", mysql_stmt_error(statement));
	if (mysql_stmt_field_count(statement) == 0)
		return;
	if (mysql_stmt_store_result(statement) != 0)
		fail("store result", mysql_stmt_error(statement));
	(void)mysql_stmt_free_result(statement);
}

struct create {
	MYSQL_STMT *order, *item, *event, *read;
};

static void prepare_create(struct create *create)
{
	create->order = prepare("INSERT INTO t_order (order_no, user_id, amount_cents, currency, "
				"trace_parent, expire_time) VALUES (?, ?, ?, 'CNY', NULL, "
				"UTC_TIMESTAMP(3) + INTERVAL ? MICROSECOND)");
	create->item = prepare(
		"INSERT INTO t_order_item (order_id, sku_id, quantity) VALUES (?, 'SKU-1', ?)");
	create->event = prepare("INSERT INTO t_outbox_event (event_type, order_no, trace_parent) "
				"VALUES ('ORDER_CREATED', ?, NULL)");
	create->read = prepare("SELECT order_no, user_id, amount_cents, currency, status, "
			       "CAST(created_at AS CHAR), CAST(expire_time AS CHAR), "
			       "CAST(pay_time AS CHAR), CAST(close_time AS CHAR), close_reason, "
			       "close_source FROM t_order WHERE order_no = ?");
}

static void create_order(const struct create *create, uint64_t place)
{
	MYSQL_BIND params[PARAM_MAX];
	uint64_t cents = 9900;
	uint64_t timeout_us = UINT64_C(1800000000);
	uint64_t quantity = 2;

	run_text("START TRANSACTION");
	bind(&params[0], order_no, NULL);
	bind(&params[1], NULL, &place);
	bind(&params[2], NULL, &cents);
	bind(&params[3], NULL, &timeout_us);
	execute(create->order, params);
	order_id = mysql_stmt_insert_id(create->order);
	bind(&params[0], NULL, &order_id);
	bind(&params[1], NULL, &quantity);
	execute(create->item, params);
	bind(&params[0], order_no, NULL);
	execute(create->event, params);
	run_text("COMMIT");
	execute(create->read, params);
}

struct pay {
	MYSQL_STMT *lock, *order, *trade, *event;
};

static void prepare_pay(struct pay *pay)
{
	pay->lock = prepare("SELECT id, status, expire_time <= UTC_TIMESTAMP(3), amount_cents = ? "
			    "AND currency = 'CNY', trace_parent FROM t_order FORCE INDEX "
			    "(uk_order_no) WHERE order_no = ? FOR UPDATE SKIP LOCKED");
	pay->order = prepare("UPDATE t_order FORCE INDEX (PRIMARY) SET status = 'PAID', pay_time = "
			     "UTC_TIMESTAMP(3), version = version + 1 WHERE id = ? AND status = "
			     "'UNPAID' AND amount_cents = ? AND currency = 'CNY' AND (expire_time "
			     "IS NULL OR expire_time > UTC_TIMESTAMP(3))");
	pay->trade = prepare("INSERT INTO t_payment (outcome, refund_state, channel, trade_no, "
			     "order_no, amount_cents, currency) VALUES ('APPLIED', 'NONE', "
			     "'bench', ?, ?, ?, 'CNY')");
	pay->event = prepare("INSERT INTO t_outbox_event (event_type, order_no, payload, "
			     "trace_parent) VALUES ('ORDER_PAID', ?, ?, NULL)");
}

/* The ids of the orders of bench_fill are their numbers. */
static void pay_order(const struct pay *pay, uint64_t place)
{
	MYSQL_BIND params[PARAM_MAX];
	uint64_t cents = 9900;

	run_text("START TRANSACTION");
	bind(&params[0], NULL, &cents);
	bind(&params[1], order_no, NULL);
	execute(pay->lock, params);
	bind(&params[0], NULL, &place);
	bind(&params[1], NULL, &cents);
	execute(pay->order, params);
	if (mysql_stmt_affected_rows(pay->order) != 1)
		fail("pay", "the order could not be paid");
	bind(&params[0], trade_no, NULL);
	bind(&params[1], order_no, NULL);
	bind(&params[2], NULL, &cents);
	execute(pay->trade, params);
	(void)text_format(payload, sizeof(payload),
		"{\"channel\":\"bench\",\"trade_no\":\"%s\",\"amount_cents\":9900,"
		"\"currency\":\"CNY\"}",
		trade_no);
	bind(&params[0], order_no, NULL);
	bind(&params[1], payload, NULL);
	execute(pay->event, params);
	run_text("COMMIT");
}

static void run_all(bool pays, const char *prefix, uint64_t first, uint64_t count)
{
	struct create create;
	struct pay pay;

	if (pays)
		prepare_pay(&pay);
	else
		prepare_create(&create);
	uint64_t start_ms = clock_epoch_ms();
	for (uint64_t place = first; place < first + count; place++) {
		(void)text_format(order_no, sizeof(order_no), "%s%09" PRIu64, prefix, place);
		(void)text_format(trade_no, sizeof(trade_no), "L%09" PRIu64, place);
		if (pays)
			pay_order(&pay, place);
		else
			create_order(&create, place);
	}
	(void)printf("start_ms %" PRIu64 "\nend_ms %" PRIu64 "\ncount %" PRIu64 "\n", start_ms,
		clock_epoch_ms(), count);
}

int main(int argc, char **argv)
{
	uint64_t first = 0;
	uint64_t count = 0;

	if (argc != 5 || !text_parse_uint(argv[3], 1, COUNT_MAX, &first) ||
		!text_parse_uint(argv[4], 1, COUNT_MAX, &count)) {
		(void)fputs("usage: bench-orders create|pay PREFIX FIRST COUNT\n", stderr);
		return EXIT_STATUS_USAGE;
	}
	open_connection();
	run_all(text_equals(argv[1], "pay"), argv[2], first, count);
	mysql_close(mysql);
	return EXIT_STATUS_OK;
}
