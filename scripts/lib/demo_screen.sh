# shellcheck shell=bash
# Part of scripts/demo: what is going on, from outside: rows by SQL, the broker by its port, the
# product service by HTTP. On a terminal a table that is drawn again, else a line a second.

declare -A FIGURE=()
SCREEN_LINES=0
SCREEN_OPEN=0

# With a limit, so that a server that does not answer stops nobody's clock.
sql() { timeout 5 mariadb --defaults-file="$STACK_MYSQL_ROOT_CNF" --connect-timeout=3 -N -B lapse -e "$1"; }

readonly FIGURE_NAMES=(orders unpaid paid closed message sweep overdue oldest
	new untold pending running "done" dead refunds)
readonly FIGURES_SQL="SELECT o.*, e.*, u.*, c.* FROM
	(SELECT COUNT(*), COALESCE(SUM(status = 'UNPAID'), 0), COALESCE(SUM(status = 'PAID'), 0),
		COALESCE(SUM(status = 'CLOSED'), 0), COALESCE(SUM(close_source = 'message'), 0),
		COALESCE(SUM(close_source = 'sweep'), 0),
		COALESCE(SUM(status = 'UNPAID' AND expire_time <= UTC_TIMESTAMP(3)), 0),
		COALESCE(ROUND(MAX(IF(status = 'UNPAID' AND expire_time <= UTC_TIMESTAMP(3),
			TIMESTAMPDIFF(MICROSECOND, expire_time, UTC_TIMESTAMP(3)) / 1000000, 0)), 1), 0)
	FROM t_order) o,
	(SELECT COUNT(*) FROM t_outbox_event WHERE status = 'NEW') e,
	(SELECT (SELECT COUNT(*) FROM t_outbox_event WHERE event_type IN
			('ORDER_CLOSED', 'ORDER_PAID', 'PAYMENT_LATE', 'PAYMENT_DUPLICATE'))
		- (SELECT COUNT(*) FROM t_event_consumed WHERE consumer_name = 'notify')) u,
	(SELECT COALESCE(SUM(status = 'PENDING'), 0), COALESCE(SUM(status = 'RUNNING'), 0),
		COALESCE(SUM(status = 'DONE'), 0), COALESCE(SUM(status = 'DEAD'), 0),
		COALESCE(SUM(status = 'DONE' AND kind = 'REFUND'), 0)
	FROM t_compensation) c"

broker_state() {
	if (exec 3<>"/dev/tcp/127.0.0.1/$STACK_AMQP_PORT") 2>/dev/null; then echo up; else echo DOWN; fi
}

stock_state() {
	local switches
	switches=$(curl -sf -m 2 "$STOCK_URL/v1/misbehave") || {
		echo DOWN
		return 0
	}
	jq -r 'if (."fail-rate" | tonumber) > 0 then "FAILING"
		elif (."lose-answers" | tonumber) > 0 then "LOSING" else "ok" end' <<<"$switches"
}

take_figures() {
	local row values i
	row=$(sql "$FIGURES_SQL") || return 1
	read -ra values <<<"$row"
	for i in "${!FIGURE_NAMES[@]}"; do FIGURE[${FIGURE_NAMES[i]}]=${values[i]}; done
	FIGURE[broker]=$(broker_state)
	FIGURE[stock]=$(stock_state)
}

# Nothing is waiting for anything.
is_quiet() {
	((FIGURE[unpaid] == 0 && FIGURE[new] == 0 && FIGURE[untold] == 0 && FIGURE[pending] == 0 &&
		FIGURE[running] == 0))
}

clock() { printf '%02d:%02d' $((SECONDS / 60)) $((SECONDS % 60)); }

screen_start() {
	SCREEN_OPEN=1
	echo
	[[ -t 1 ]] || printf '%5s  %6s %5s %6s  %-14s %7s  %6s  %7s %7s %5s %4s %7s  %-6s %s\n' \
		time unpaid paid closed message+sweep overdue outbox pending running "done" dead \
		refunds broker stock
}

# Takes the drawn table away, so that what follows stands in its place.
screen_clear() {
	((SCREEN_LINES)) || return 0
	printf '\033[%dA\033[J' "$SCREEN_LINES"
	SCREEN_LINES=0
}

screen_say() {
	if [[ -t 1 ]]; then
		screen_clear
		printf '%s  %s\n' "$(clock)" "$1"
		if [[ -n ${FIGURE[orders]:-} ]]; then screen_draw; fi
	else
		printf '%s  --- %s\n' "$(clock)" "$1"
	fi
}

screen_show() {
	if [[ -t 1 ]]; then
		screen_clear
		screen_draw
	else
		printf '%5s  %6d %5d %6d  %-14s %7d  %6d  %7d %7d %5d %4d %7d  %-6s %s\n' \
			"$(clock)" "${FIGURE[unpaid]}" "${FIGURE[paid]}" "${FIGURE[closed]}" \
			"${FIGURE[message]}+${FIGURE[sweep]}" "${FIGURE[overdue]}" \
			"${FIGURE[new]}" "${FIGURE[pending]}" "${FIGURE[running]}" \
			"${FIGURE[done]}" "${FIGURE[dead]}" "${FIGURE[refunds]}" "${FIGURE[broker]}" "${FIGURE[stock]}"
	fi
}

# A state that is not as it should be stands out.
paint() { if [[ $1 == "$2" ]]; then printf '\033[32m%s\033[0m' "$1"; else printf '\033[1;31m%s\033[0m' "$1"; fi; }

bar() {
	local width=$((ORDERS == 0 ? 0 : $1 * 40 / ORDERS))
	printf '%*s' "$width" '' | tr ' ' '#'
}

# Lines must not wrap, else the next drawing begins in the wrong place.
screen_draw() {
	local lines=(
		""
		"$(printf '  %s   %d orders' "$(clock)" "${FIGURE[orders]}")"
		""
		"$(printf '  unpaid           %5d  %s' "${FIGURE[unpaid]}" "$(bar "${FIGURE[unpaid]}")")"
		"$(printf '  paid             %5d  %s' "${FIGURE[paid]}" "$(bar "${FIGURE[paid]}")")"
		"$(printf '  closed           %5d  %s' "${FIGURE[closed]}" "$(bar "${FIGURE[closed]}")")"
		"$(printf '    by message     %5d' "${FIGURE[message]}")"
		"$(printf '    by sweep       %5d' "${FIGURE[sweep]}")"
		"$(printf '  overdue          %5d  oldest %s s' "${FIGURE[overdue]}" "${FIGURE[oldest]}")"
		"$(printf '  outbox NEW       %5d' "${FIGURE[new]}")"
		"$(printf '  tasks            %5d done, %d pending, %d running, %d dead' "${FIGURE[done]}" \
			"${FIGURE[pending]}" "${FIGURE[running]}" "${FIGURE[dead]}")"
		"$(printf '    refunds        %5d done' "${FIGURE[refunds]}")"
		"  broker           $(paint "${FIGURE[broker]}" up)"
		"  product service  $(paint "${FIGURE[stock]}" ok)"
	)
	printf '\033[?7l'
	printf '%s\033[K\n' "${lines[@]}"
	printf '\033[?7h'
	SCREEN_LINES=${#lines[@]}
}

screen_end() {
	((SCREEN_OPEN)) || return 0
	SCREEN_OPEN=0
	SCREEN_LINES=0
	[[ ! -t 1 ]] || printf '\033[?7h\n'
}
