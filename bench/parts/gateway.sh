# shellcheck shell=bash
# Part of bench/run: orders created and paid over HTTP, beside a bare loop with the same statements.

readonly GATEWAY_CLIENTS=8
readonly GATEWAY_LATENCY_S=20
GATEWAY_PORTS=()
GATEWAY_RUN=0

# gateway_start COUNT: each on a port of its own.
gateway_start() {
	local i name
	export LAPSE_NOTIFY_SECRET=the-secret-of-the-benchmark
	export LAPSE_API_TOKENS_FILE=$RESULT_DIR/tokens
	for ((i = 0; i < 64; i++)); do
		printf 'bench-%d:%s\n' "$i" "$(printf 'bench-%d' "$i" | sha256sum | cut -d ' ' -f 1)"
	done >"$LAPSE_API_TOKENS_FILE"
	GATEWAY_PORTS=()
	plan_daemons lapse-gateway "$1"
	for i in "${!DAEMONS[@]}"; do
		name=${DAEMONS[i]}
		GATEWAY_PORTS+=("$(free_port)")
		LAPSE_OPS_ADDR=127.0.0.1:${PORTS[i]} LAPSE_GATEWAY_ADDR=127.0.0.1:${GATEWAY_PORTS[i]} \
			launch "$name" "$RESULT_DIR/$name.log" "$BIN/lapse-gateway" 7>&-
		PIDS+=("$name=$(live_process "$(pid_file "$name")")")
		await 20 "$name" gateway_answers "${GATEWAY_PORTS[i]}" ||
			die "$name did not start: $(tail -n 3 "$RESULT_DIR/$name.log")"
	done
}

gateway_answers() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

# Payable orders B000000001 and on, and no payments.
gateway_fill() {
	sql -e "TRUNCATE t_payment"
	fill_orders "$1" 1 3600000
}

# gateway_calls KEY create|pay COUNT PREFIX RATE: through every gateway at once.
# shellcheck disable=SC2153 # take_times sets COUNT and RATE.
gateway_calls() {
	local key=$1 what=$2 count=$3 prefix=$4 rate=$5 i before good pids=()
	before=$(gateway_cpu_ms)
	for i in "${!GATEWAY_PORTS[@]}"; do
		"$BIN/bench-api" "${GATEWAY_PORTS[i]}" "$what" "$count" "$GATEWAY_CLIENTS" "$rate" \
			"$prefix${i/#0/}" >"$RESULT_DIR/api.$i" &
		pids+=($!)
	done
	wait "${pids[@]}"
	take_times "$RESULT_DIR"/api.?
	good=$(awk '$1 == "good" { sum += $2 } END { print sum }' "$RESULT_DIR"/api.?)
	((good == COUNT)) || die "$good of $COUNT calls were answered well"
	sample "$key" "$RATE"
	sample "$key.cpu" "$(calculate "($(gateway_cpu_ms) - $before) * 1000 / $COUNT")"
	rm -f "$RESULT_DIR"/api.?
}

gateway_cpu_ms() {
	local sum=0 pid
	for pid in "${PIDS[@]#*=}"; do sum=$((sum + $(cpu_ms "$pid"))); done
	echo "$sum"
}

# gateway_loops KEY create|pay COUNT PREFIX FIRST LOOPS
gateway_loops() {
	local key=$1 what=$2 count=$3 prefix=$4 first=$5 loops=$6 i pids=()
	for ((i = 0; i < loops; i++)); do
		"$BIN/bench-orders" "$what" "$prefix" $((first + i * count)) "$count" >"$RESULT_DIR/loop.$i" &
		pids+=($!)
	done
	wait "${pids[@]}"
	take_times "$RESULT_DIR"/loop.?
	sample "$key" "$RATE"
	rm -f "$RESULT_DIR"/loop.?
}

# One thing through the gateway and by the loop, next to each other: gateway_pair KEY create|pay COUNT LOOPS
gateway_pair() {
	local key=$1 what=$2 count=$3 loops=$4 prefix
	GATEWAY_RUN=$((GATEWAY_RUN + 1))
	prefix=B
	[[ $what == pay ]] || prefix=G$GATEWAY_RUN-
	gateway_loops "$key.loop" "$what" "$count" "${prefix/G/L}" $((count + 1)) "$loops"
	gateway_calls "$key" "$what" "$count" "$prefix" 0
	sample "$key.of_loop" "$(calculate "${SAMPLES[$key]##* } / ${SAMPLES[$key.loop]##* }" 3)"
	tell "gateway: $key $(median "$key.of_loop") of the loop's ${SAMPLES[$key.loop]##* }/s"
}

gateway_rates() {
	local count=$1 round
	for ((round = 1; round <= ROUNDS * 3; round++)); do
		gateway_fill $((2 * count))
		gateway_start 1
		gateway_pair gateway.create create "$count" 1
		gateway_pair gateway.pay pay "$count" 1
		sample gateway.rss "$(gateway_rss_mib)"
		stop_daemons
		gateway_start 2
		gateway_pair gateway.create2 create "$count" 2
		stop_daemons
	done
}

gateway_rss_mib() {
	awk '/^VmHWM:/ { printf "%.2f", $2 / 1024 }' "/proc/${PIDS[0]#*=}/status"
}

# Half of the rate that is wanted, while a backlog is closed: gateway_latency create|pay
gateway_latency() {
	local what=$1 rate count left backlog=$((ORDERS * 5 / 2))
	rate=$(calculate "$(median "gateway.$what.loop") * 0.8 / 2" 0)
	count=$((rate * (QUICK ? 3 : GATEWAY_LATENCY_S)))
	sql -e "TRUNCATE t_payment"
	fill_orders "$backlog" 1 -600000
	if [[ $what == pay ]]; then
		sql -e "INSERT INTO t_order (order_no, user_id, amount_cents, expire_time)
			SELECT CONCAT('H', LPAD(seq, 9, '0')), seq, 9900, UTC_TIMESTAMP(3) + INTERVAL 1 HOUR
			FROM seq_1_to_100000000 WHERE seq <= $count"
	fi
	gateway_start 1
	launch lapse-sweeper-1 "$RESULT_DIR/lapse-sweeper-1.log" "$BIN/lapse-sweeper" 7>&-
	"$BIN/bench-api" "${GATEWAY_PORTS[0]}" "$what" "$count" 32 "$rate" H >"$RESULT_DIR/latency"
	left=$(sql -e "SELECT COUNT(*) FROM t_order WHERE status = 'UNPAID' AND order_no LIKE 'B%'")
	end_process lapse-sweeper-1 TERM 40
	stop_daemons
	sample "gateway.$what.p50" "$(awk '$1 == "p50_us" { printf "%.2f", $2 / 1000 }' "$RESULT_DIR/latency")"
	sample "gateway.$what.p99" "$(awk '$1 == "p99_us" { printf "%.2f", $2 / 1000 }' "$RESULT_DIR/latency")"
	sample "gateway.$what.closed" "$((backlog - left))"
	tell "gateway: $what at $rate/s: p99 ${SAMPLES[gateway.$what.p99]##* } ms, $left of $backlog left"
}

gateway_latencies() {
	local round
	for ((round = 1; round <= ROUNDS; round++)); do
		gateway_latency create
		gateway_latency pay
	done
}

part_gateway() {
	local what
	gateway_rates $((ORDERS / 40))
	gateway_latencies
	for what in create pay; do
		report gateway "lapse-gateway, ${what/pay/notice}s" "gateway.$what" calls/s
		report gateway "  of the bare loop" "gateway.$what.of_loop" x at-least 0.8
		report gateway "bare loop with the same SQL" "gateway.$what.loop" orders/s
		report gateway "CPU a call: lapse-gateway" "gateway.$what.cpu" us
	done
	report gateway "two gateways, creates" gateway.create2 calls/s
	report gateway "  of two bare loops" gateway.create2.of_loop x
	for what in create pay; do
		report gateway "$what at half of 0.8 x, a backlog being closed: p50" "gateway.$what.p50" ms
		report gateway "  p99" "gateway.$what.p99" ms at-most 20
		report gateway "  closed meanwhile" "gateway.$what.closed" orders
	done
	report gateway "resident memory of a gateway, the most" gateway.rss MiB at-most 16
}
