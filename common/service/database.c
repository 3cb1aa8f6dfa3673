#include "common/service/database.h"

#include <stdlib.h>

#include "common/base/backoff.h"
#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/service/service.h"

enum {
	CLOCK_INTERVAL_MS = 10000, /* between two looks at MySQL's clock */
};

struct database {
	struct db *db;
	uint64_t lost_at_ms; /* 0: it is there */
	uint64_t next_try_ms;
	uint32_t try_count;
	uint64_t failure_count;
	struct error trouble;
	bool knows_clock;
	int64_t clock_offset_ms; /* MySQL's milliseconds since 1970 minus clock_now_ms */
	uint64_t clock_next_ms;
};

void database_create(const struct db_settings *settings, struct database **database_out)
{
	struct database *database = memory_allocate(sizeof(*database));

	db_create(settings, &database->db);
	*database_out = database;
}

void database_destroy(struct database **database)
{
	if (*database == NULL)
		return;
	db_destroy(&(*database)->db);
	free(*database);
	*database = NULL;
}

struct db *database_db(struct database *database)
{
	return database->db;
}

uint64_t database_away_ms(const struct database *database)
{
	return database->lost_at_ms == 0 ? 0 : clock_now_ms() - database->lost_at_ms;
}

const char *database_trouble(const struct database *database)
{
	return database->lost_at_ms == 0 ? "" : database->trouble.text;
}

static void note_success(struct database *database)
{
	if (database->failure_count > 0) {
		log_info(log_event("mysql_is_back"), log_uint("failures", database->failure_count));
		service_note_reconnect(SERVICE_CHECK_MYSQL);
	}
	database->lost_at_ms = 0;
	database->try_count = 0;
	database->failure_count = 0;
}

void database_note(struct database *database, enum result result, const struct error *error)
{
	uint64_t now_ms = clock_now_ms();

	service_set_check(SERVICE_CHECK_MYSQL, result == RESULT_OK, error->text);
	if (result == RESULT_OK) {
		note_success(database);
		return;
	}
	database->trouble = *error;
	if (database->lost_at_ms == 0)
		database->lost_at_ms = now_ms;
	if (log_is_worth_repeating(&database->failure_count))
		log_warn(log_event("mysql_is_away"), log_text("error", error->text),
			log_uint("count", database->failure_count));
	database->next_try_ms = now_ms + backoff_delay_ms(database->try_count++,
						 SERVICE_BACKOFF_BASE_MS, SERVICE_BACKOFF_CAP_MS);
}

/* Its clock, and whether it still takes what we write: a server may change while nothing is due. */
static enum result look_at_server(struct database *database, struct error *error)
{
	static const char sql[] =
		"SELECT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) DIV 1000, "
		"@@global.read_only";
	struct db_rows *rows = NULL;
	uint64_t before_ms = clock_now_ms();
	enum result result = db_query(database->db, sql, NULL, 0, &rows, error);

	if (result == RESULT_OK && db_rows_next(rows)) {
		if (db_rows_uint(rows, 1) != 0)
			result = error_set(RESULT_TEMPORARY, error, "the server is read_only");
		/* A new session may find the one that took over. */
		if (result != RESULT_OK)
			db_disconnect(database->db);
		uint64_t middle_ms = before_ms + (clock_now_ms() - before_ms) / 2;

		database->clock_offset_ms = db_rows_int(rows, 0) - (int64_t)middle_ms;
		database->clock_next_ms = middle_ms + CLOCK_INTERVAL_MS;
		database->knows_clock = true;
	}
	db_rows_destroy(&rows);
	return result;
}

bool database_is_there(struct database *database)
{
	struct error error = { .text = "" };
	uint64_t now_ms = clock_now_ms();

	/* After any failure the next try waits for its time, connected or not. */
	if (now_ms < database->next_try_ms && database->lost_at_ms != 0)
		return false;
	if (db_is_connected(database->db) && database->lost_at_ms == 0 &&
		now_ms < database->clock_next_ms)
		return true;
	enum result result = db_ensure_connected(database->db, &error);
	if (result == RESULT_OK)
		result = look_at_server(database, &error);
	database_note(database, result, &error);
	return result == RESULT_OK;
}

bool database_local_time(const struct database *database, int64_t epoch_ms, int64_t *local_ms_out)
{
	*local_ms_out = epoch_ms - database->clock_offset_ms;
	return database->knows_clock;
}
