#include "gateway/database.h"

#include <stdlib.h>

#include "common/base/backoff.h"
#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/service/service.h"

enum {
	WATCH_INTERVAL_MS = 1000,
	BACKOFF_BASE_MS = 500,
	BACKOFF_CAP_MS = 10000,
};

struct database {
	struct db *db;
	bool is_away;
	uint64_t next_try_ms;
	uint32_t try_count;
	uint64_t failure_count;
	uint64_t next_watch_ms;
	struct error trouble;
};

/* A slow MySQL makes a turn long, but the loop turns. */
static void note_turn(void *context)
{
	(void)context;
	service_note_turn();
}

void database_create(const struct db_settings *settings, struct database **database_out)
{
	struct database *database = memory_allocate(sizeof(*database));

	db_create(settings, &database->db);
	db_set_companion(database->db, note_turn, NULL);
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

static void note_success(struct database *database)
{
	if (database->failure_count > 0) {
		log_info(log_event("mysql_is_back"), log_uint("failures", database->failure_count));
		service_note_reconnect(SERVICE_CHECK_MYSQL);
	}
	database->is_away = false;
	database->try_count = 0;
	database->failure_count = 0;
	service_set_check(SERVICE_CHECK_MYSQL, true, NULL);
}

static void note_failure(struct database *database, const struct error *error)
{
	database->is_away = true;
	database->trouble = *error;
	service_set_check(SERVICE_CHECK_MYSQL, false, error->text);
	if (log_is_worth_repeating(&database->failure_count))
		log_warn(log_event("mysql_is_away"), log_text("error", error->text),
			log_uint("count", database->failure_count));
}

/* A line that broke is built again at once, since the server may be well. */
void database_note(struct database *database, enum result result, const struct error *error)
{
	if (result == RESULT_TEMPORARY && !db_is_connected(database->db))
		note_failure(database, error);
}

enum result database_use(struct database *database, struct db **db_out, struct error *error)
{
	*db_out = database->db;
	if (!database->is_away && db_is_connected(database->db))
		return RESULT_OK;
	if (database->is_away && clock_now_ms() < database->next_try_ms)
		return error_set(RESULT_TEMPORARY, error, "%s", database->trouble.text);
	if (db_ensure_connected(database->db, error) == RESULT_OK) {
		note_success(database);
		return RESULT_OK;
	}
	note_failure(database, error);
	database->next_try_ms = clock_now_ms() + backoff_delay_ms(database->try_count++,
							 BACKOFF_BASE_MS, BACKOFF_CAP_MS);
	return RESULT_TEMPORARY;
}

void database_watch(struct database *database)
{
	struct error error = { .text = "" };
	struct db *db = NULL;

	if (clock_now_ms() < database->next_watch_ms)
		return;
	enum result result = database_use(database, &db, &error);
	if (result == RESULT_OK) {
		result = db_ping(db, &error);
		database_note(database, result, &error);
	}
	database->next_watch_ms = clock_now_ms() + WATCH_INTERVAL_MS;
}
