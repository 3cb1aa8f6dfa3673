# shellcheck shell=bash
# Part of bench/run: overdue orders and no broker; and a sweep that finds nothing.

# sweepers COUNT
sweepers() {
	local url=$LAPSE_AMQP_URL
	fill_orders "$ORDERS" 1 -600000
	plan_daemons lapse-sweeper "$1"
	unset LAPSE_AMQP_URL
	start_daemons
	export LAPSE_AMQP_URL=$url
	watch_daemons "$ORDERS" lapse_orders_closed_total
	stop_daemons
	check_closed
	sample "sweep.$1" "$RATE"
	sample "sweep.$1.cpu.mariadb" "$(calculate "$(watched mariadb sum 3) * 1000 / $ORDERS")"
	sample "sweep.$1.cpu.sweeper" "$(calculate "$(watched lapse-sweeper sum 3) * 1000 / $ORDERS")"
	sample sweep.rss "$(calculate "$(watched lapse-sweeper most 5) / 1024" 2)"
	tell "sweep: $1 sweepers: $RATE/s"
}

# Rows that the server has read for anybody: by key, in order, or from the start. Asking reads none.
rows_read() { sql -e "SHOW GLOBAL STATUS LIKE 'Handler_read%'" | awk '$1 !~ /rnd_deleted/ { sum += $2 } END { print sum }'; }

# idle_sweep KEY COUNT: rows examined by a full pass over a table in which nothing is due.
idle_sweep() {
	local before after
	fill_orders "$2" 0 86400000
	before=$(rows_read)
	env -u LAPSE_AMQP_URL "$BIN/lapse-sweeper" --once >/dev/null 2>"$RESULT_DIR/sweeper-once.log"
	after=$(rows_read)
	sample "$1" $((after - before))
	tell "sweep: nothing due among $2 orders: $((after - before)) rows read"
}

part_sweep() {
	local round large=$((ORDERS * 10))
	for ((round = 1; round <= ROUNDS; round++)); do
		ceiling sweep.ceiling bench_close_due
		sweepers 2
		sweepers 1
		sample sweep.of_ceiling \
			"$(calculate "${SAMPLES[sweep.2]##* } / ${SAMPLES[sweep.ceiling]##* }" 3)"
	done
	idle_sweep sweep.idle_small 2000
	idle_sweep sweep.idle_large "$large"
	report sweep "lapse-sweeper, 2 processes" sweep.2 orders/s
	report sweep "  of the set-based ceiling" sweep.of_ceiling x at-least 0.9
	report sweep "lapse-sweeper, 1 process" sweep.1 orders/s
	report sweep "ceiling, 2 connections" sweep.ceiling orders/s
	report sweep "CPU an order: MariaDB" sweep.2.cpu.mariadb us
	report sweep "  lapse-sweeper" sweep.2.cpu.sweeper us
	report sweep "resident memory of a sweeper, the most" sweep.rss MiB at-most 16
	report sweep "rows examined, nothing due among 2000 orders" sweep.idle_small rows
	report sweep "rows examined, nothing due among $large orders" sweep.idle_large rows \
		at-most "${SAMPLES[sweep.idle_small]}"
}
