# shellcheck shell=bash
# Part of bench/run: the servers, the daemons, numbers and the report.
# Uses STACK_ROOT and the functions of scripts/lib/stack_common.sh.

readonly BIN=$STACK_ROOT/build/release/bin
readonly RESULT_DIR=$STACK_ROOT/build/bench
declare -A SAMPLES=()
DAEMONS=() PIDS=() PORTS=() DB_PID='' BROKER_PID='' AMQP_URL=''

# ---- servers

stack() { "$STACK_ROOT/scripts/stack" --name "$STACK_NAME" "$@" 7>&-; }

sql() { mariadb --defaults-file="$STACK_MYSQL_ROOT_CNF" -N lapse "$@"; }

servers_up() {
	stack up --test-delay-exchange
	eval "$(stack env)"
	AMQP_URL=$LAPSE_AMQP_URL
	use_stack "$STACK_NAME"
	DB_PID=$(live_process "$(pid_file db)")
	BROKER_PID=$(live_process "$(pid_file broker)")
	export LAPSE_LOG_LEVEL=warn
	"$BIN/lapsectl" migrate --quiet
	sql <"$STACK_ROOT/bench/load/orders.sql"
	sql <"$STACK_ROOT/bench/ceiling/close.sql"
}

# A virtual host of its own for what stays in the broker afterwards.
fresh_vhost() {
	stack add-vhost "$1"
	export LAPSE_AMQP_URL=${AMQP_URL%/*}/$1
}

end_vhost() {
	stack delete-vhost "$1"
	export LAPSE_AMQP_URL=$AMQP_URL
	settle_broker
}

# Until the broker has cleaned up behind a virtual host: a delayed exchange full of messages keeps
# it busy for many seconds, in which it answers nobody.
settle_broker() {
	local limit=$((SECONDS + 60)) before
	while ((SECONDS < limit)); do
		before=$(cpu_ms "$BROKER_PID")
		sleep 0.5
		(($(cpu_ms "$BROKER_PID") - before > 100)) || break
	done
}

# Until the server has cleaned up behind what was before, so that it does not count here.
settle_server() {
	local limit=$((SECONDS + 30)) rows
	while ((SECONDS < limit)); do
		rows=$(sql -e "SELECT variable_value FROM information_schema.global_status
			WHERE variable_name = 'innodb_history_list_length'")
		((rows > 200)) || break
		sleep 0.1
	done
}

# fill_orders COUNT ITEMS OFFSET_MS
fill_orders() {
	sql -e "CALL bench_fill($1, $2, $3); ANALYZE TABLE t_order, t_order_item" >/dev/null
	settle_server
}

# User and system time of a process so far, in milliseconds.
cpu_ms() { awk '{ sub(/.*\) /, ""); print ($12 + $13) * 10 }' "/proc/$1/stat"; }

# ---- daemons

free_port() {
	local port=$((30000 + RANDOM % 2000))
	while [[ " ${PORTS[*]} " == *" $port "* ]] || (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do
		port=$((30000 + RANDOM % 2000))
	done
	echo "$port"
}

# Ports first, so that whoever watches knows them before the work begins:
# plan_daemons PROGRAM COUNT...
plan_daemons() {
	local i
	DAEMONS=() PORTS=() PIDS=()
	while (($#)); do
		for ((i = 1; i <= $2; i++)); do
			DAEMONS+=("$1-$i")
			PORTS+=("$(free_port)")
		done
		shift 2
	done
}

# Starts what was planned; the rest are arguments of the program.
start_daemons() {
	local i
	for i in "${!DAEMONS[@]}"; do
		LAPSE_OPS_ADDR=127.0.0.1:${PORTS[i]} launch "${DAEMONS[i]}" \
			"$RESULT_DIR/${DAEMONS[i]}.log" "$BIN/${DAEMONS[i]%-*}" "$@" 7>&-
		PIDS+=("${DAEMONS[i]}=$(live_process "$(pid_file "${DAEMONS[i]}")")")
	done
}

stop_daemons() {
	local name
	for name in "${DAEMONS[@]}"; do end_process "$name" TERM 40; done
	DAEMONS=()
}

# The planned daemons until METRIC of all together is COUNT: watch_daemons COUNT METRIC; sets RATE
# and TOOK_MS. The lines about processes stay in WATCH.
watch_daemons() {
	WATCH=$RESULT_DIR/watch
	"$BIN/bench-load" watch "$1" "$2" "${PORTS[@]}" "${PIDS[@]}" \
		"mariadb=$DB_PID" "broker=$BROKER_PID" >"$WATCH"
	take_times "$WATCH"
}

# One column of the lines of processes whose names begin with PREFIX: watched PREFIX sum|most COLUMN.
watched() {
	awk -v prefix="$1" -v how="$2" -v column="$3" '
		$1 == "process" && index($2, prefix) == 1 {
			sum += $column
			if ($column > most) most = $column
		}
		END { print how == "sum" ? sum + 0 : most + 0 }' "$WATCH"
}

# ---- numbers

# From start_ms, end_ms and count of programs that worked at the same time: sets RATE, TOOK_MS, COUNT.
# shellcheck disable=SC2034 # The parts read them.
take_times() {
	read -r RATE TOOK_MS COUNT < <(awk '
		$1 == "start_ms" && $2 > 0 && (start == 0 || $2 < start) { start = $2 }
		$1 == "end_ms" && $2 > end { end = $2 }
		$1 == "count" { count += $2 }
		END {
			took = end > start ? end - start : 1
			printf "%.1f %d %d\n", count * 1000 / took, took, count
		}' "$@")
}

calculate() { awk "BEGIN { printf \"%.${2:-1}f\", ($1) }"; }

sample() { SAMPLES[$1]+="${SAMPLES[$1]:+ }$2"; }

median() {
	tr ' ' '\n' <<<"${SAMPLES[$1]}" | sort -g |
		awk '{ v[NR] = $1 } END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'
}

# ---- report

# report PART NAME KEY UNIT [at-least|at-most LIMIT]: the median of the samples of KEY.
report() {
	local part=$1 name=$2 key=$3 unit=$4 rule=${5:-} limit=${6:-} value met=null wanted=''
	[[ -n ${SAMPLES[$key]:-} ]] || return 0
	value=$(median "$key")
	if [[ -n $rule ]]; then
		wanted="${rule/-/ } $limit"
		met=false
		if [[ $rule == at-least ]]; then
			(($(calculate "$value >= $limit" 0))) && met=true
		else
			(($(calculate "$value <= $limit" 0))) && met=true
		fi
	fi
	printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$part" "$name" "$key" "$value" "$unit" \
		"${wanted:--}" "$met" "${SAMPLES[$key]}" >>"$RESULT_DIR/report.tsv"
}

print_table() {
	awk -F '\t' '
		function number(x) {
			if (x >= 1000) return sprintf("%.0f", x)
			return x >= 10 ? sprintf("%.1f", x) : sprintf("%.2f", x)
		}
		$1 != part { part = $1; printf "\n%s\n", toupper(part) }
		{
			verdict = $7 == "true" ? "reached" : $7 == "false" ? "MISSED" : ""
			printf "  %-58s %10s %-9s %-18s %s\n", $2, number($4), $5,
				$6 == "-" ? "" : "wanted " $6, verdict
		}' "$RESULT_DIR/report.tsv"
}

write_json() {
	{
		printf '{\n"version": "%s",\n"finished": "%s",\n' "$("$BIN/lapsectl" --version | head -n 1)" \
			"$(date -u +%Y-%m-%dT%H:%M:%SZ)"
		printf '"machine": {"cores": %d, "processor": "%s", "mariadb": "%s", "rabbitmq": "%s", "delay_exchange": "%s"},\n' \
			"$(nproc)" "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)" \
			"$SERVER_DB" "$SERVER_BROKER" "$STACK_DELAY_EXCHANGE"
		# shellcheck disable=SC2153 # bench/run sets PARTS.
		printf '"settings": {"orders": %d, "rounds": %d, "parts": "%s"},\n"results": [\n' \
			"$ORDERS" "$ROUNDS" "${PARTS[*]}"
		awk -F '\t' '{
			gsub(/ /, ", ", $8)
			printf "%s{\"part\": \"%s\", \"key\": \"%s\", \"name\": \"%s\", \"value\": %s, \"unit\": \"%s\", \"wanted\": %s, \"met\": %s, \"samples\": [%s]}",
				(NR > 1 ? ",\n" : ""), $1, $3, $2, $4, $5, ($6 == "-" ? "null" : "\"" $6 "\""), $7, $8
		}' "$RESULT_DIR/report.tsv"
		printf '\n]\n}\n'
	} >"$RESULT_DIR/result.json"
}
