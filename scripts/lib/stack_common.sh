# shellcheck shell=bash
# Part of scripts/stack: messages, the remembered state of a stack, ports, processes.
# Guarantees: no signal ever reaches a process that this stack did not start.

# The passwords are in these folders, so nobody else may look into them.
umask 077

declare -A STATE=()

note() { printf 'stack: %s\n' "$*" >&2; }

die() {
	note "$*"
	exit 1
}

need() {
	command -v "$1" >/dev/null || die "$1 is missing; run: scripts/setup"
}

use_stack() {
	STACK_NAME=$1
	STACK_DIR=$STACK_ROOT/.stack/$1
}

# Two commands that start or end servers of one stack take turns.
lock_stack() {
	need flock
	mkdir -p "$STACK_ROOT/.stack"
	exec 9>"$STACK_ROOT/.stack/.lock-$STACK_NAME"
	flock -w 120 9 || die "another scripts/stack works on stack $STACK_NAME"
}

random_hex() { od -An -vtx1 -N"$1" /dev/urandom | tr -d ' \n'; }

# The state is one KEY=VALUE per line; it is written whole or not at all.
save_state() {
	local key
	for key in "${!STATE[@]}"; do
		printf '%s=%s\n' "$key" "${STATE[$key]}"
	done | sort >"$STACK_DIR/state.new"
	mv "$STACK_DIR/state.new" "$STACK_DIR/state"
}

load_state() {
	[[ -f $STACK_DIR/state ]] || return 1
	local key value
	while IFS='=' read -r key value; do
		STATE[$key]=$value
	done <"$STACK_DIR/state"
}

require_state() {
	load_state || die "stack $STACK_NAME is not there; run: scripts/stack --name $STACK_NAME up"
}

# Ports in use on this machine (any address, any state) or promised to another stack here.
used_ports() {
	local hex
	while read -r hex; do
		echo $((16#$hex))
	done < <(awk 'FNR > 1 { n = split($2, a, ":"); print a[n] }' /proc/net/tcp /proc/net/tcp6 2>/dev/null)
	cat "$STACK_ROOT"/.stack/*/state 2>/dev/null | sed -n 's/^[a-z]*_port=//p'
}

# The range lies below the kernel's ephemeral ports, so that no outgoing connection takes the
# port of a server while it is down between kill and start. KEY: instead of a stack's own.
choose_ports() { # [KEY...]
	local -A taken=()
	(($#)) || set -- db_port amqp_port amqps_port dist_port epmd_port management_port
	local port key
	exec 8>"$STACK_ROOT/.stack/.lock-ports"
	flock -w 60 8 || die "another scripts/stack is choosing ports"
	while read -r port; do taken[$port]=1; done < <(used_ports)
	for key in "$@"; do
		port=$((20000 + (RANDOM * 32768 + RANDOM) % 10000))
		while [[ -n ${taken[$port]:-} ]]; do
			port=$((20000 + (port - 19999) % 10000))
		done
		taken[$port]=1
		STATE[$key]=$port
	done
	save_state
	exec 8>&-
}

# Start time of a process in clock ticks since boot: with the pid it names a process for good.
# The second field of stat may contain spaces, so everything up to the last ")" goes first.
start_time() {
	local stat
	{ stat=$(<"/proc/$1/stat"); } 2>/dev/null || return 1
	stat=${stat##*) }
	read -ra stat <<<"$stat"
	# A dead process stays listed until its parent collects it; it is gone for us once its
	# last thread is.
	if [[ ${stat[0]} == Z ]]; then
		local threads=("/proc/$1/task"/*)
		((${#threads[@]} > 1)) || return 1
	fi
	echo "${stat[19]}"
}

# Remembers a process that we have just started: remember_process FILE PID.
remember_process() {
	local ticks
	ticks=$(start_time "$2") || return 1
	printf '%s %s\n' "$2" "$ticks" >"$1"
}

# Prints the pid in FILE if that very process still lives: live_process FILE.
live_process() {
	local pid ticks
	[[ -f $1 ]] || return 1
	read -r pid ticks <"$1" || return 1
	[[ $(start_time "$pid") == "$ticks" ]] || return 1
	echo "$pid"
}

pid_file() { echo "$STACK_DIR/$1.pid"; }

# Runs a server in a session of its own, so that Ctrl-C at the terminal does not reach it, and
# without our lock, which would otherwise be held for as long as the server lives.
# launch WHICH LOG COMMAND...: every COMMAND here replaces itself until it is the server.
launch() {
	local which=$1 log=$2 file
	shift 2
	file=$(pid_file "$which")
	setsid "$@" </dev/null >>"$log" 2>&1 8>&- 9>&- &
	remember_process "$file" $! || die "$which ended at once; see $log"
	disown
}

# Waits for a condition: await SECONDS WHICH COMMAND...; fails when the server ends or time is up.
await() {
	local limit=$((SECONDS + $1)) which=$2
	shift 2
	until "$@"; do
		live_process "$(pid_file "$which")" >/dev/null || return 1
		((SECONDS < limit)) || return 1
		sleep 0.1
	done
}

# signal_server WHICH SIGNAL, for a server that runs.
signal_server() {
	local pid
	pid=$(live_process "$(pid_file "$1")") || die "$1 is not running"
	kill -s "$2" "$pid"
}

# Ends a process and waits until it is gone: end_process WHICH SIGNAL SECONDS.
# A frozen process is woken, else TERM would wait for ever. After the limit comes KILL.
end_process() {
	local file pid limit
	file=$(pid_file "$1")
	if ! pid=$(live_process "$file"); then
		rm -f "$file"
		return 0
	fi
	kill -s "$2" "$pid" 2>/dev/null || true
	kill -s CONT "$pid" 2>/dev/null || true
	limit=$((SECONDS + $3))
	while live_process "$file" >/dev/null; do
		if ((SECONDS >= limit)); then
			note "$1 does not end; killing it"
			kill -s KILL "$pid" 2>/dev/null || true
			limit=$((SECONDS + 10))
		fi
		sleep 0.05
	done
	rm -f "$file"
}

# One line for status: describe_process WHICH LABEL ADDRESS.
describe_process() {
	local pid how=running
	if pid=$(live_process "$(pid_file "$1")"); then
		[[ $(sed 's/.*) //' "/proc/$pid/stat") != T* ]] || how=frozen
		printf '%-8s %s, pid %s, %s\n' "$2" "$how" "$pid" "$3"
		[[ $how == running ]]
	else
		printf '%-8s not running, %s\n' "$2" "$3"
		return 1
	fi
}
