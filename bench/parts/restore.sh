# shellcheck shell=bash
# Part of bench/run: restore tasks through lapse-retry against lapse-stock, which keeps its books
# in the same MariaDB.

stock_start() {
	local port
	port=$(free_port)
	export LAPSE_STOCK_URL=http://127.0.0.1:$port
	launch lapse-stock "$RESULT_DIR/lapse-stock.log" \
		"$BIN/lapse-stock" --listen "127.0.0.1:$port" 7>&-
	STOCK_PID=$(live_process "$(pid_file lapse-stock)")
	await 20 lapse-stock sql -e 'SELECT COUNT(*) FROM t_stock_ledger' >/dev/null 2>&1 ||
		die "lapse-stock did not start: $(tail -n 3 "$RESULT_DIR/lapse-stock.log")"
	sql -e "REPLACE INTO t_stock (sku_id, quantity)
		SELECT CONCAT('SKU-', seq), 0 FROM seq_0_to_99; TRUNCATE t_stock_ledger"
}

stock_stop() {
	end_process lapse-stock TERM 40
	unset LAPSE_STOCK_URL
}

# restore KEY BATCH COUNT
restore() {
	local key=$1 count=$3 wrong
	stock_start
	sql -e "CALL bench_fill_tasks($count); ANALYZE TABLE t_compensation" >/dev/null
	settle_server
	plan_daemons lapse-retry 1
	LAPSE_STOCK_BATCH=$2 start_daemons
	PIDS+=("lapse-stock=$STOCK_PID")
	watch_daemons "$count" 'lapse_task_calls_total{kind="stock_restore",result="ok"}'
	stop_daemons
	stock_stop
	wrong=$(sql -e "SELECT (SELECT COUNT(*) FROM t_compensation WHERE status <> 'DONE') +
		ABS($count - (SELECT COUNT(*) FROM t_stock_ledger)) +
		ABS(2 * $count - (SELECT SUM(quantity) FROM t_stock))")
	[[ $wrong == 0 ]] || die "$wrong restores are missing or too many"
	sample "$key" "$RATE"
	sample "$key.cpu.retry" "$(calculate "$(watched lapse-retry sum 3) * 1000 / $count")"
	sample "$key.cpu.stock" "$(calculate "$(watched lapse-stock sum 3) * 1000 / $count")"
	sample "$key.cpu.mariadb" "$(calculate "$(watched mariadb sum 3) * 1000 / $count")"
	sample restore.rss "$(calculate "$(watched lapse-retry most 5) / 1024" 2)"
	tell "restore: $key $RATE/s"
}

part_restore() {
	local round key
	for ((round = 1; round <= ROUNDS; round++)); do
		restore restore.single 1 $((ORDERS / 20))
		restore restore.batch 50 $((ORDERS / 4))
	done
	report restore "lapse-retry, one task a call" restore.single tasks/s
	report restore "lapse-retry, LAPSE_STOCK_BATCH=50" restore.batch tasks/s
	for key in single batch; do
		report restore "CPU a task, $key: lapse-retry" "restore.$key.cpu.retry" us
		report restore "  lapse-stock" "restore.$key.cpu.stock" us
		report restore "  MariaDB" "restore.$key.cpu.mariadb" us
	done
	report restore "resident memory of lapse-retry, the most" restore.rss MiB at-most 16
}
