# shellcheck shell=bash
# Part of bench/run: a full queue of due orders, beside what the server, the broker and a
# per-message worker can do on the same tables.

# ceiling KEY PROCEDURE: on two connections at once, batches of 1000.
ceiling() {
	local key=$1 procedure=$2 half=$((ORDERS / 2)) first second before
	first="1000, 1, $((half + 1))" second="1000, $((half + 1)), $((ORDERS + 1))"
	[[ $procedure != bench_close_due ]] || first=1000 second=1000
	fill_orders "$ORDERS" 1 -600000
	before=$(cpu_ms "$DB_PID")
	sql -e "CALL $procedure($first)" >"$RESULT_DIR/ceiling.1" &
	sql -e "CALL $procedure($second)" >"$RESULT_DIR/ceiling.2"
	wait $!
	awk '{ printf "start_ms %d\nend_ms %d\ncount %d\n", $1 * 1000, $2 * 1000, $3 }' \
		"$RESULT_DIR/ceiling.1" "$RESULT_DIR/ceiling.2" >"$RESULT_DIR/times"
	take_times "$RESULT_DIR/times"
	# shellcheck disable=SC2153 # take_times sets COUNT.
	[[ $COUNT == "$ORDERS" ]] || die "$procedure closed $COUNT of $ORDERS orders"
	sample "$key" "$RATE"
	sample "$key.cpu" "$(calculate "($(cpu_ms "$DB_PID") - $before) * 1000 / $ORDERS")"
	tell "close: $procedure $RATE/s"
}

fill_queue() { "$BIN/bench-load" publish "$1" 0 >/dev/null; }

# How many orders are closed but lack their one event or one task per item: must be none.
check_closed() {
	local wrong
	wrong=$(sql -e "SELECT (SELECT COUNT(*) FROM t_order WHERE status <> 'CLOSED') +
		ABS((SELECT COUNT(*) FROM t_order) - (SELECT COUNT(*) FROM t_outbox_event)) +
		ABS((SELECT COUNT(*) FROM t_order_item) - (SELECT COUNT(*) FROM t_compensation))")
	[[ $wrong == 0 ]] || die "$wrong rows are missing or too many"
}

# consumers KEY COUNT ITEMS
consumers() {
	local key=$1 count=$2 name
	fill_orders "$ORDERS" "$3" -600000
	fill_queue "$ORDERS"
	plan_daemons lapse-consumer "$count"
	start_daemons
	watch_daemons "$ORDERS" 'lapse_amqp_settled_total{queue="lapse.timeout.due",outcome="ack"}'
	stop_daemons
	check_closed
	sample "$key" "$RATE"
	for name in mariadb broker lapse-consumer; do
		sample "$key.cpu.$name" "$(calculate "$(watched "$name" sum 3) * 1000 / $ORDERS")"
	done
	sample "$key.cpu" "$(calculate "($(watched '' sum 3)) * 1000 / $ORDERS")"
	sample close.rss "$(calculate "$(watched lapse-consumer most 5) / 1024" 2)"
	sample close.growth "$(calculate "($(watched lapse-consumer most 6) - $(watched lapse-consumer most 4)) / 1024" 2)"
	tell "close: $count consumers, $3 items: $RATE/s"
}

drain() {
	local before
	fill_queue "$ORDERS"
	before=$(cpu_ms "$BROKER_PID")
	"$BIN/bench-load" drain 1000 500 >"$RESULT_DIR/drain.1" &
	"$BIN/bench-load" drain 1000 500 >"$RESULT_DIR/drain.2"
	wait $!
	take_times "$RESULT_DIR/drain.1" "$RESULT_DIR/drain.2"
	sample close.drain "$RATE"
	sample close.drain.cpu "$(calculate "($(cpu_ms "$BROKER_PID") - $before) * 1000 / $COUNT")"
	tell "close: drain $RATE/s"
}

worker_install() {
	need node
	need npm
	[[ -d $STACK_ROOT/bench/peers/node_modules/amqplib ]] && return 0
	tell "installing the packages of the per-message worker"
	(cd "$STACK_ROOT/bench/peers" && npm install --omit=dev --no-audit --no-fund --no-package-lock) >/dev/null
}

# Best of three; a twentieth of the orders is enough, as it is so much slower.
worker() {
	local in_flight count=$((ORDERS / 20)) best=0
	for in_flight in 4 16 64; do
		fill_orders "$count" 1 -600000
		fill_queue "$count"
		node "$STACK_ROOT/bench/peers/worker.mjs" "$in_flight" "$count" >"$RESULT_DIR/times"
		check_closed
		take_times "$RESULT_DIR/times"
		sample "close.worker.$in_flight" "$RATE"
		best=$(calculate "$RATE > $best ? $RATE : $best")
		tell "close: per-message worker, $in_flight in flight: $RATE/s"
	done
	sample close.worker "$best"
}

# Ratios of what was measured next to each other; the median of the rounds is reported.
close_ratios() {
	local consumers=${SAMPLES[close.2]##* }
	sample close.of_due "$(calculate "$consumers / ${SAMPLES[close.due]##* }" 3)"
	sample close.of_known "$(calculate "$consumers / ${SAMPLES[close.known]##* }" 3)"
	sample close.of_worker "$(calculate "$consumers / ${SAMPLES[close.worker]##* }" 2)"
}

# What remains of the ceiling when the broker needs its share of the same cores.
close_bound() {
	local broker=${SAMPLES[close.drain.cpu]##* } known=${SAMPLES[close.known.cpu]##* }
	sample close.bound "$(calculate "$(nproc) * 1000000 / ($known + $broker)")"
	sample close.bound_share "$(calculate "$known / ($known + $broker)" 3)"
}

part_close() {
	local round
	worker_install
	for ((round = 1; round <= ROUNDS; round++)); do
		ceiling close.due bench_close_due
		consumers close.2 2 1
		ceiling close.known bench_close_known
		consumers close.1 1 1
		ceiling close.blind bench_close_blind
		consumers close.4 4 1
		drain
		worker
		close_ratios
		close_bound
	done
	consumers close.two_items 2 2
	report close "lapse-consumer, 2 processes" close.2 orders/s at-least 20000
	report close "  of the set-based ceiling that finds its orders" close.of_due "x" at-least 0.9
	report close "  of the per-message worker" close.of_worker "x" at-least 15
	report close "  of the set-based ceiling that is told its orders" close.of_known "x"
	report close "lapse-consumer, 1 process" close.1 orders/s
	report close "lapse-consumer, 4 processes" close.4 orders/s
	report close "lapse-consumer, 2 processes, 2 items an order" close.two_items orders/s
	report close "ceiling that finds its orders, 2 connections" close.due orders/s
	report close "ceiling that is told its orders" close.known orders/s
	report close "ceiling that does not even choose (incorrect)" close.blind orders/s
	report close "per-message worker, best of 4, 16, 64 in flight" close.worker orders/s
	report close "broker alone: two takers that only ack" close.drain orders/s
	report close "told ceiling's and broker's CPU on these cores" close.bound orders/s
	report close "  of the told ceiling, when CPU is the limit" close.bound_share "x"
	report close "CPU an order, all processes together" close.2.cpu us
	report close "  MariaDB" close.2.cpu.mariadb us
	report close "  RabbitMQ" close.2.cpu.broker us
	report close "  lapse-consumer" close.2.cpu.lapse-consumer us
	report close "  MariaDB, ceiling that finds its orders" close.due.cpu us
	report close "  MariaDB, ceiling that is told its orders" close.known.cpu us
	report close "resident memory of a consumer, the most" close.rss MiB at-most 16
	report close "  its growth from a tenth of the work to the end" close.growth MiB
}
