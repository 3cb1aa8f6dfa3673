#include "demo/stock/ledger.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/base/random.h"
#include "common/io/db.h"
#include "demo/stock/ledger_sql.h"

enum {
	ATTEMPT_MAX = 5,
	RACE_WAIT_MAX_MS = 20,
	ERROR_DUPLICATE = 1062,
};

struct sku {
	const char *id;
	int64_t quantity;
	bool is_known;
};

/* Work on one list of movements. */
struct batch {
	struct db *db;
	enum ledger_kind kind;
	struct ledger_move *moves;
	size_t count;
	struct ledger_move **keys; /* one move per key, in the order of the keys */
	size_t key_count;
	struct sku *skus; /* in the order of the ids */
	size_t sku_count;
	const char **values; /* room for one list of parameters */
};

static int compare_moves(const void *left, const void *right)
{
	const struct ledger_move *const *a = left;
	const struct ledger_move *const *b = right;
	int order = strcmp((*a)->key, (*b)->key);

	/* Of equal keys the one that came first decides. */
	return order != 0 ? order : (*a > *b) - (*a < *b);
}

static int compare_skus(const void *left, const void *right)
{
	const struct sku *a = left;
	const struct sku *b = right;

	return strcmp(a->id, b->id);
}

static void sort_keys(struct batch *batch)
{
	size_t kept = 0;

	for (size_t i = 0; i < batch->count; i++)
		batch->keys[i] = &batch->moves[i];
	qsort(batch->keys, batch->count, sizeof(struct ledger_move *), compare_moves);
	for (size_t i = 0; i < batch->count; i++)
		if (kept == 0 || !text_equals(batch->keys[kept - 1]->key, batch->keys[i]->key))
			batch->keys[kept++] = batch->keys[i];
	batch->key_count = kept;
}

static struct ledger_move *find_key(const struct batch *batch, const char *key)
{
	size_t low = 0;
	size_t high = batch->key_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = strcmp(batch->keys[middle]->key, key);

		if (order == 0)
			return batch->keys[middle];
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

static struct sku *find_sku(const struct batch *batch, const char *id)
{
	const struct sku wanted = { .id = id };

	return bsearch(&wanted, batch->skus, batch->sku_count, sizeof(wanted), compare_skus);
}

/* Keys that are in the ledger already are decided by what stands there. */
static enum result read_known_keys(struct batch *batch, struct error *error)
{
	struct db_rows *rows = NULL;

	for (size_t i = 0; i < batch->key_count; i++)
		batch->values[i] = batch->keys[i]->key;
	enum result result =
		ledger_sql_find_keys(batch->db, batch->values, batch->key_count, &rows, error);
	while (result == RESULT_OK && db_rows_next(rows)) {
		struct ledger_move *move = find_key(batch, db_rows_text(rows, 0, NULL));

		if (move == NULL)
			continue;
		bool is_same = text_equals(db_rows_text(rows, 1, NULL), move->sku_id) &&
			       text_equals(db_rows_text(rows, 2, NULL), move->order_no) &&
			       db_rows_uint(rows, 3) == move->quantity &&
			       text_equals(db_rows_text(rows, 4, NULL),
				       ledger_sql_kind_names[batch->kind]);
		move->outcome = is_same ? LEDGER_OUTCOME_REPEATED : LEDGER_OUTCOME_REUSED;
	}
	db_rows_destroy(&rows);
	return result == RESULT_NONE ? RESULT_OK : result;
}

static void sort_skus(struct batch *batch)
{
	size_t kept = 0;

	for (size_t i = 0; i < batch->key_count; i++)
		if (batch->keys[i]->outcome == LEDGER_OUTCOME_OPEN)
			batch->skus[kept++] = (struct sku){ .id = batch->keys[i]->sku_id };
	batch->sku_count = 0;
	qsort(batch->skus, kept, sizeof(struct sku), compare_skus);
	for (size_t i = 0; i < kept; i++)
		if (batch->sku_count == 0 ||
			!text_equals(batch->skus[batch->sku_count - 1].id, batch->skus[i].id))
			batch->skus[batch->sku_count++] = batch->skus[i];
}

/* Rows are locked in the order of their ids, so that two programs do not wait for each other. */
static enum result lock_skus(struct batch *batch, struct error *error)
{
	struct db_rows *rows = NULL;

	sort_skus(batch);
	if (batch->sku_count == 0)
		return RESULT_OK;
	for (size_t i = 0; i < batch->sku_count; i++)
		batch->values[i] = batch->skus[i].id;
	enum result result =
		ledger_sql_lock_skus(batch->db, batch->values, batch->sku_count, &rows, error);
	while (result == RESULT_OK && db_rows_next(rows)) {
		struct sku *sku = find_sku(batch, db_rows_text(rows, 0, NULL));

		if (sku == NULL)
			continue;
		sku->is_known = true;
		sku->quantity = db_rows_int(rows, 1);
	}
	db_rows_destroy(&rows);
	return result == RESULT_NONE ? RESULT_OK : result;
}

static void decide(const struct batch *batch)
{
	for (size_t i = 0; i < batch->key_count; i++) {
		struct ledger_move *move = batch->keys[i];

		if (move->outcome != LEDGER_OUTCOME_OPEN)
			continue;
		struct sku *sku = find_sku(batch, move->sku_id);
		REQUIRE(sku != NULL);
		if (!sku->is_known) {
			move->outcome = LEDGER_OUTCOME_UNKNOWN_SKU;
			continue;
		}
		if (batch->kind == LEDGER_KIND_RESERVE && sku->quantity < move->quantity) {
			move->outcome = LEDGER_OUTCOME_SHORT;
			continue;
		}
		if (batch->kind == LEDGER_KIND_RESERVE)
			sku->quantity -= move->quantity;
		move->outcome = LEDGER_OUTCOME_APPLIED;
	}
}

/* Ledger rows first, then the stock by what the ledger says. */
static enum result write_applied(struct batch *batch, struct error *error)
{
	const struct ledger_move **applied =
		memory_allocate_array(batch->key_count, sizeof(const struct ledger_move *));
	enum result result = RESULT_OK;
	size_t count = 0;

	for (size_t i = 0; i < batch->key_count; i++) {
		if (batch->keys[i]->outcome != LEDGER_OUTCOME_APPLIED)
			continue;
		applied[count] = batch->keys[i];
		batch->values[count++] = batch->keys[i]->key;
	}
	if (count > 0)
		result = ledger_sql_insert(batch->db, batch->kind, applied, count, error);
	if (result == RESULT_OK && count > 0)
		result = ledger_sql_move_stock(batch->db, batch->kind, batch->values, count, error);
	free(applied);
	return result;
}

static enum result run_transaction(struct batch *batch, struct error *error)
{
	for (size_t i = 0; i < batch->count; i++)
		batch->moves[i].outcome = LEDGER_OUTCOME_OPEN;
	enum result result = db_begin(batch->db, error);
	if (result == RESULT_OK)
		result = read_known_keys(batch, error);
	if (result == RESULT_OK)
		result = lock_skus(batch, error);
	if (result == RESULT_OK) {
		decide(batch);
		result = write_applied(batch, error);
	}
	if (result == RESULT_OK)
		result = db_commit(batch->db, error);
	/* Somebody else wrote the same key after our look: look again. */
	if (result == RESULT_PERMANENT && db_last_errno(batch->db) == ERROR_DUPLICATE)
		result = RESULT_CONFLICT;
	return result;
}

/* A key that stands twice in one list has one effect. */
static void settle_twins(const struct batch *batch)
{
	for (size_t i = 0; i < batch->count; i++) {
		struct ledger_move *move = &batch->moves[i];
		const struct ledger_move *first = find_key(batch, move->key);

		REQUIRE(first != NULL);
		if (first == move)
			continue;
		bool is_same = text_equals(first->sku_id, move->sku_id) &&
			       text_equals(first->order_no, move->order_no) &&
			       first->quantity == move->quantity;
		move->outcome = !is_same                                   ? LEDGER_OUTCOME_REUSED
				: first->outcome == LEDGER_OUTCOME_APPLIED ? LEDGER_OUTCOME_REPEATED
									   : first->outcome;
	}
}

enum result ledger_apply(struct db *db, enum ledger_kind kind, struct ledger_move *moves,
	size_t count, struct error *error)
{
	struct batch batch = {
		.db = db,
		.kind = kind,
		.moves = moves,
		.count = count,
		.keys = memory_allocate_array(count, sizeof(struct ledger_move *)),
		.skus = memory_allocate_array(count, sizeof(struct sku)),
		.values = memory_allocate_array(count, sizeof(char *)),
	};
	enum result result = RESULT_CONFLICT;

	sort_keys(&batch);
	for (int i = 0; i < ATTEMPT_MAX && result == RESULT_CONFLICT; i++) {
		if (i > 0)
			clock_wait_ms(1 + random_up_to(RACE_WAIT_MAX_MS));
		result = run_transaction(&batch, error);
	}
	if (result == RESULT_OK)
		settle_twins(&batch);
	free(batch.keys);
	free(batch.skus);
	free(batch.values);
	return result;
}
