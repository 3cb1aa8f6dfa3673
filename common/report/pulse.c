#include "common/report/pulse.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/io/db.h"

enum {
	LOOK_MS = 15000 /* between two looks at the clock of the server */
};

struct pulse {
	struct pulse_minute minutes[PULSE_MINUTES]; /* the last one belongs to last_minute */
	uint64_t last_minute;                       /* since 1970; 0: nothing is known */
	uint64_t next_look_ms;
};

void pulse_create(struct pulse **pulse_out)
{
	*pulse_out = memory_allocate(sizeof(**pulse_out));
}

void pulse_destroy(struct pulse **pulse)
{
	free(*pulse);
	*pulse = NULL;
}

/* The last minute that is over. */
static enum result read_minute(struct db *db, uint64_t *minute_out, struct error *error)
{
	static const char sql[] =
		"SELECT TIMESTAMPDIFF(MINUTE, '1970-01-01', UTC_TIMESTAMP(3)) - 1";
	struct db_rows *rows = NULL;
	enum result result = db_query(db, sql, NULL, 0, &rows, error);

	if (result == RESULT_OK && db_rows_next(rows))
		*minute_out = db_rows_uint(rows, 0);
	db_rows_destroy(&rows);
	return result;
}

/* Makes room for the minutes behind the last one that is known. */
static void move_on(struct pulse *pulse, uint64_t minute)
{
	uint64_t steps = minute - pulse->last_minute;

	if (pulse->last_minute == 0 || minute < pulse->last_minute || steps > PULSE_MINUTES)
		steps = PULSE_MINUTES;
	memmove(pulse->minutes, pulse->minutes + steps,
		(PULSE_MINUTES - (size_t)steps) * sizeof(pulse->minutes[0]));
	memset(pulse->minutes + PULSE_MINUTES - steps, 0,
		(size_t)steps * sizeof(pulse->minutes[0]));
	pulse->last_minute = minute;
}

static void take_rows(struct pulse *pulse, struct db_rows *rows)
{
	while (rows != NULL && db_rows_next(rows)) {
		uint64_t minute = db_rows_uint(rows, 0);

		if (minute > pulse->last_minute || pulse->last_minute - minute >= PULSE_MINUTES)
			continue;
		pulse->minutes[PULSE_MINUTES - 1 - (pulse->last_minute - minute)] =
			(struct pulse_minute){ .closes = db_rows_uint(rows, 1),
				.lag_mean_ms = db_rows_int(rows, 2),
				.lag_max_ms = db_rows_int(rows, 3) };
	}
}

static enum result read_closes(
	struct pulse *pulse, struct db *db, uint64_t minute, struct error *error)
{
	static const char sql[] =
		"SELECT minute, COUNT(*), CAST(AVG(lag_ms) AS SIGNED), CAST(MAX(lag_ms) AS SIGNED) "
		"FROM (SELECT TIMESTAMPDIFF(MINUTE, '1970-01-01', close_time) AS minute, "
		"TIMESTAMPDIFF(MICROSECOND, expire_time, close_time) DIV 1000 AS lag_ms "
		"FROM t_order FORCE INDEX (idx_close_time) "
		"WHERE close_time >= '1970-01-01' + INTERVAL ? MINUTE "
		"AND close_time < '1970-01-01' + INTERVAL ? MINUTE "
		"AND close_reason = 'TIMEOUT' ORDER BY close_time DESC LIMIT 100000) AS closes "
		"GROUP BY minute LIMIT 100";
	bool is_first = pulse->last_minute == 0 || minute < pulse->last_minute ||
			minute - pulse->last_minute > PULSE_MINUTES;
	uint64_t from = is_first ? minute - PULSE_MINUTES + 1 : pulse->last_minute + 1;
	const struct db_param params[] = { db_uint(from), db_uint(minute + 1) };
	struct db_rows *rows = NULL;
	enum result result = db_query(db, sql, params, 2, &rows, error);

	if (result == RESULT_OK || result == RESULT_NONE) {
		move_on(pulse, minute);
		take_rows(pulse, rows);
		result = RESULT_OK;
	}
	db_rows_destroy(&rows);
	return result;
}

enum result pulse_update(struct pulse *pulse, struct db *db, struct error *error)
{
	uint64_t minute = 0;

	if (clock_now_ms() < pulse->next_look_ms)
		return RESULT_OK;
	pulse->next_look_ms = clock_now_ms() + LOOK_MS;
	enum result result = read_minute(db, &minute, error);
	if (result == RESULT_OK && minute != pulse->last_minute)
		result = read_closes(pulse, db, minute, error);
	return error_context(result, error, "pulse");
}

bool pulse_read(const struct pulse *pulse, struct pulse_minute minutes_out[PULSE_MINUTES])
{
	memcpy(minutes_out, pulse->minutes, sizeof(pulse->minutes));
	return pulse->last_minute != 0;
}
