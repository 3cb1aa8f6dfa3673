# shellcheck shell=bash
# Part of bench/run: outbox rows to confirmed timeouts, beside a publisher that does nothing else.

readonly ARM_REMAINING_MS=1800000
# The producer is up for so long before the first row may be claimed.
readonly ARM_START_MS=3000

# Sixteen fixed queues side by side, each takes 300 ms of remaining time: all that is armed within
# 4.8 s of the start goes the fixed way.
fixed_entries() {
	local i entries=()
	for ((i = 0; i < 16; i++)); do entries+=("$((ARM_REMAINING_MS - 300 * i))ms"); done
	local IFS=,
	echo "${entries[*]}"
}

# A publisher of the benchmark, in a fresh virtual host: bare KEY PROGRAM... COUNT.
bare() {
	local key=$1
	shift
	fresh_vhost bench_arm
	"$@" "$ARM_REMAINING_MS" >"$RESULT_DIR/times"
	end_vhost bench_arm
	take_times "$RESULT_DIR/times"
	sample "$key" "$RATE"
	tell "arm: $key $RATE/s"
}

# producer KEY COUNT
producer() {
	local key=$1 count=$2 left
	fresh_vhost bench_arm
	plan_daemons lapse-producer 1
	sql -e "CALL bench_fill_outbox($count, $((ARM_START_MS + count / 20)), $ARM_REMAINING_MS)" >/dev/null
	start_daemons
	watch_daemons "$count" 'lapse_outbox_published_total{what="timeout",result="confirmed"}'
	stop_daemons
	end_vhost bench_arm
	left=$(sql -e "SELECT COUNT(*) FROM t_outbox_event WHERE status <> 'SENT'")
	[[ $left == 0 ]] || die "$left outbox rows are not marked"
	sample "$key" "$RATE"
	sample "$key.cpu.mariadb" "$(calculate "$(watched mariadb sum 3) * 1000 / $count")"
	sample "$key.cpu.broker" "$(calculate "$(watched broker sum 3) * 1000 / $count")"
	sample "$key.cpu.producer" "$(calculate "$(watched lapse-producer sum 3) * 1000 / $count")"
	sample "$key.bound" "$(calculate "$(nproc) * 1000000 / ($(watched mariadb sum 3) + \
		$(watched broker sum 3) + $(watched lapse-producer sum 3)) * $count / 1000")"
	sample arm.rss "$(calculate "$(watched lapse-producer most 5) / 1024" 2)"
	tell "arm: $key $RATE/s"
}

# arm_mode KEY COUNT
arm_mode() {
	bare "arm.$1.bare" "$BIN/bench-publisher" "$2"
	producer "arm.$1" "$2"
	bare "arm.$1.gathered" "$BIN/bench-load" publish "$2"
	sample "arm.$1.of_bare" "$(calculate "${SAMPLES[arm.$1]##* } / ${SAMPLES[arm.$1.bare]##* }" 3)"
}

part_arm() {
	local round mode count=$((ORDERS / 2))
	for ((round = 1; round <= ROUNDS; round++)); do
		export LAPSE_DELAY=plugin LAPSE_DELAY_FIXED=off
		arm_mode plugin "$count"
		export LAPSE_DELAY=levels
		arm_mode levels "$count"
		LAPSE_DELAY_FIXED=$(fixed_entries)
		arm_mode fixed $((count < 50000 ? count : 50000))
	done
	unset LAPSE_DELAY LAPSE_DELAY_FIXED
	for mode in plugin levels fixed; do
		report arm "lapse-producer, $mode" "arm.$mode" rows/s
		report arm "  of the bare publisher" "arm.$mode.of_bare" x at-least 0.8
		report arm "what the CPU of all three allows on these cores" "arm.$mode.bound" rows/s
		report arm "bare publisher, $mode" "arm.$mode.bare" msgs/s
		report arm "bare, gathering writes as lapse-producer does" "arm.$mode.gathered" msgs/s
		report arm "CPU a row: MariaDB" "arm.$mode.cpu.mariadb" us
		report arm "  RabbitMQ" "arm.$mode.cpu.broker" us
		report arm "  lapse-producer" "arm.$mode.cpu.producer" us
	done
	report arm "resident memory of a producer, the most" arm.rss MiB at-most 16
}
