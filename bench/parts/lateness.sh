# shellcheck shell=bash
# Part of bench/run: how long after its deadline an order is closed, at 1000 due a second.

readonly LATENESS_RATE=1000

# lateness KEY TIMEOUT_MS
lateness() {
	local key=$1 timeout_ms=$2 seconds=60 count answer
	((QUICK)) && seconds=15
	count=$((LATENESS_RATE * seconds))
	fill_orders 0 0 0
	fresh_vhost bench_lateness
	plan_daemons lapse-producer 1 lapse-consumer 1
	start_daemons
	sleep 2
	sql -e "CALL bench_create_orders($LATENESS_RATE, $seconds, $timeout_ms)" &
	watch_daemons "$count" 'lapse_amqp_settled_total{queue="lapse.timeout.due",outcome="ack"}'
	wait $!
	stop_daemons
	end_vhost bench_lateness
	check_closed_by_message "$count"
	read -ra answer < <(sql -e 'CALL bench_lateness()')
	sample "$key.p50" "${answer[1]}"
	sample "$key.p99" "${answer[2]}"
	sample "$key.most" "${answer[3]}"
	sample "$key.busy" "$(calculate "$(watched '' sum 3) / $TOOK_MS / $(nproc) * 100")"
	tell "lateness: $key p50 ${answer[1]} ms, p99 ${answer[2]} ms, most ${answer[3]} ms"
}

check_closed_by_message() {
	local closed
	closed=$(sql -e "SELECT COUNT(*) FROM t_order WHERE status = 'CLOSED' AND close_source = 'message'")
	[[ $closed == "$1" ]] || die "$closed of $1 orders were closed by a message"
}

part_lateness() {
	export LAPSE_DELAY=plugin LAPSE_DELAY_FIXED=off
	lateness lateness.plugin 5000
	export LAPSE_DELAY=levels LAPSE_DELAY_FIXED=5s
	lateness lateness.fixed 5000
	export LAPSE_DELAY_FIXED=off
	lateness lateness.levels 10000
	unset LAPSE_DELAY LAPSE_DELAY_FIXED
	report lateness "plugin, p50" lateness.plugin.p50 ms at-most 10
	report lateness "plugin, p99" lateness.plugin.p99 ms at-most 50
	report lateness "plugin, most" lateness.plugin.most ms
	report lateness "fixed path, p50" lateness.fixed.p50 ms at-most 10
	report lateness "fixed path, p99" lateness.fixed.p99 ms at-most 50
	report lateness "fixed path, most" lateness.fixed.most ms
	report lateness "levels, p50" lateness.levels.p50 ms
	report lateness "levels, p99" lateness.levels.p99 ms at-most 100
	report lateness "levels, most" lateness.levels.most ms
	report lateness "share of the cores in use, plugin" lateness.plugin.busy '%'
	report lateness "share of the cores in use, fixed path" lateness.fixed.busy '%'
	report lateness "share of the cores in use, levels" lateness.levels.busy '%'
}
