# shellcheck shell=bash
# Part of scripts/compose-check: conditions, and the counts after each step.
# Uses the functions of compose_engine.sh, and expect() and await().

readonly STOCK_EACH=1000000

health_of() { docker inspect -f '{{if .State.Health}}{{.State.Health.Status}}{{else}}-{{end}} {{.State.Status}} {{.State.ExitCode}}' "$@"; }

# Healthy, or the one-shot that has ended well.
all_healthy() {
	local ids
	mapfile -t ids < <(containers)
	((${#ids[@]} >= 12)) || return 1
	! health_of "${ids[@]}" | grep -vE '^(healthy running|.* exited 0$)'
}

counts_healthy() {
	local ids
	mapfile -t ids < <(containers --filter "label=com.docker.compose.service=$1" --filter health=healthy)
	((${#ids[@]} == $2))
}

# As Prometheus finds them: one address behind the name for each replica.
addresses_differ() {
	(($(compose exec -T mysql getent ahostsv4 "$1" | cut -d' ' -f1 | sort -u | wc -l) == $2))
}

fleet_shows() {
	(($(curl -sf -m 5 -u "admin:$(<"$TREE/secrets/console_password")" "http://127.0.0.1:$CONSOLE_PORT/fleet" |
		grep -o "<td>$1</td>" | wc -l) == $2))
}

closes_exceed() { (($(sql "SELECT COUNT(*) FROM t_order WHERE status = 'CLOSED'") > $1)); }
orders_pending() { (($(sql "SELECT COUNT(*) FROM t_order WHERE status = 'UNPAID' AND expire_time > UTC_TIMESTAMP(3)") > $1)); }

doctor_is_clean() { ctl doctor >"$WORK/doctor.log" 2>&1 && grep -E 'plugin|levels' "$WORK/doctor.log" >/dev/null; }

has_no_guest() { ! compose exec -T rabbitmq rabbitmqctl -q list_users 2>/dev/null | grep -w guest; }

# From outside the container, as the kernel would: docker kill counts as an order to stay down.
kill_one() {
	local id pid before
	id=$(containers --filter "label=com.docker.compose.service=$1" | head -n 1)
	pid=$(docker inspect -f '{{.State.Pid}}' "$id")
	before=$(docker inspect -f '{{.RestartCount}}' "$id")
	kill -9 "$pid"
	await 60 has_restarted "$id" "$before" && await 90 all_healthy
}

has_restarted() { (($(docker inspect -f '{{.RestartCount}}' "$1") > $2)); }

is_quiet() {
	[[ $(sql "SELECT (SELECT COUNT(*) FROM t_order WHERE status = 'UNPAID')
		+ (SELECT COUNT(*) FROM t_outbox_event WHERE status = 'NEW')
		+ (SELECT COUNT(*) FROM t_compensation WHERE status IN ('PENDING', 'RUNNING'))") == 0 ]]
}

counts_zero() { [[ $(sql "$1") == 0 ]]; }

verify_is_clean() { ctl verify >"$WORK/verify.log" 2>&1; }

# New orders stop, the rest comes to its end, and everything is counted.
audit() {
	expect "shop stops" compose_quiet stop -t 30 shop
	expect "all work comes to its end" await 150 is_quiet
	expect "lapsectl verify finds nothing" verify_is_clean
	expect "no task is DEAD" counts_zero "SELECT COUNT(*) FROM t_compensation WHERE status = 'DEAD'"
	expect "stock: initial - taken + given back = current" counts_zero \
		"SELECT COUNT(*) FROM lapse_stock.t_stock s WHERE s.quantity <> $STOCK_EACH
		+ (SELECT COALESCE(SUM(IF(l.kind = 'restore', 1, -1) * CAST(l.quantity AS SIGNED)), 0)
		FROM lapse_stock.t_stock_ledger l WHERE l.sku_id = s.sku_id)"
	expect "each restore stands once in the ledger" counts_zero \
		"SELECT (SELECT COUNT(*) FROM t_compensation c LEFT JOIN lapse_stock.t_stock_ledger l
			ON l.idempotency_key = c.idempotency_key AND l.kind = 'restore'
			WHERE c.kind = 'STOCK_RESTORE' AND l.idempotency_key IS NULL)
		+ (SELECT COUNT(*) FROM lapse_stock.t_stock_ledger l LEFT JOIN t_compensation c
			ON c.idempotency_key = l.idempotency_key WHERE l.kind = 'restore' AND c.id IS NULL)"
	expect "a closed order gave back what it took, a paid one nothing" counts_zero \
		"SELECT COUNT(*) FROM (SELECT o.status, COALESCE(SUM(IF(l.kind = 'reserve', l.quantity, 0)), 0) AS taken,
			COALESCE(SUM(IF(l.kind = 'restore', l.quantity, 0)), 0) AS given
			FROM t_order o LEFT JOIN lapse_stock.t_stock_ledger l ON l.order_no = o.order_no
			GROUP BY o.order_no, o.status) AS books
		WHERE (status = 'CLOSED' AND taken <> given) OR (status = 'PAID' AND given <> 0)"
	expect "shop starts again" compose_quiet start shop
}
