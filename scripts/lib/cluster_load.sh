# shellcheck shell=bash
# Part of scripts/cluster-check: orders, payments, and what became of them.
# Uses the functions of demo_fleet.sh, demo_screen.sh and demo_audit.sh.
# Every order number begins with demo-STEP-, so that a step is told from the others.

readonly RATE=50 TIMEOUT=8s JITTER=20s
BANK=''

# The fleet of the demo, but two of whatever stands in for another.
readonly FLEET=(producer:lapse-producer producer-2:lapse-producer
	consumer-1:lapse-consumer consumer-2:lapse-consumer
	sweeper:lapse-sweeper sweeper-2:lapse-sweeper retry:lapse-retry retry-2:lapse-retry
	gateway:lapse-gateway events-1:lapse-events events-2:lapse-events)
NOTIFY_SECRET=$(random_hex 24)

# What fleet_prepare and the audit ask for; the address of the database is that of the balancer.
stack() {
	[[ $1 == env ]] || return 0
	echo "LAPSE_MYSQL_URL=mysql://lapse:${STATE[user_password]}@127.0.0.1:${STATE[writer_port]}/lapse?tls=off"
	echo "LAPSE_AMQP_URL=amqp://lapse:${STATE[user_password]}@127.0.0.1:${STATE[amqp_port]}/lapse"
}

load_prepare() {
	STACK_MYSQL_ROOT_CNF=$STACK_DIR/sql.cnf
	# shellcheck disable=SC2034 # For demo_screen.sh.
	STACK_AMQP_PORT=${STATE[amqp_port]}
	cat >"$STACK_MYSQL_ROOT_CNF" <<-SETTINGS
		[client]
		host = 127.0.0.1
		port = ${STATE[writer_port]}
		user = lapse
		password = ${STATE[user_password]}
	SETTINGS
	fleet_prepare
	sed -i -e "s/^LAPSE_SWEEP_INTERVAL=.*/LAPSE_SWEEP_INTERVAL=$SWEEP_INTERVAL/" \
		-e '/^LAPSE_LEASE=/d' -e '/^LAPSE_RETRY_/d' "$FLEET_ENV"
	# The product service stands on the same database: it is silent for as long as that is.
	printf '%s\n' LAPSE_DELAY=levels LAPSE_STOCK_BATCH=20 LAPSE_RETRY_CAP=20s \
		LAPSE_HTTP_TIMEOUT=15s >>"$FLEET_ENV"
	: >"$FLEET_DIR/trades"
}

# Other settings, and the programs again: fleet_again KEY=VALUE...
fleet_again() {
	local entry word
	for entry in "${FLEET[@]}"; do end_process "${entry%%:*}" TERM 30; done
	for word in "$@"; do
		sed -i -e "/^${word%%=*}=/d" "$FLEET_ENV"
		echo "$word" >>"$FLEET_ENV"
	done
	for entry in "${FLEET[@]}"; do fleet_launch "${entry%%:*}"; done
	fleet_all_ready 60 || die "the programs are not ready again"
	GATEWAY_URL=http://127.0.0.1:$(fleet_logged gateway listening port)
}

# None has ended, each says that it can work.
fleet_all_ready() {
	local entry limit=$((SECONDS + $1))
	for entry in "${FLEET[@]}"; do
		await $((limit > SECONDS ? limit - SECONDS : 1)) "${entry%%:*}" fleet_is_ready "${entry%%:*}" || {
			note "${entry%%:*} is not ready"
			return 1
		}
	done
}

count_unready() { if fleet_all_ready 30; then echo 0; else echo 1; fi; }

# ---- payments: the notices of a bank, which says each thing twice and again until it is heard

# bank_notice KIND ORDER_NO CENTS
bank_notice() {
	local body time digest i heard=0
	body="{\"channel\":\"bank\",\"trade_no\":\"$1-$2\",\"order_no\":\"$2\",\"amount_cents\":$3,\"currency\":\"CNY\",\"state\":\"paid\"}"
	echo "$1-$2" >>"$FLEET_DIR/trades"
	for ((i = 0; i < 120 && heard < 2; i++)); do
		printf -v time '%(%s)T' -1
		digest=$(printf '%s.%s' "$time" "$body" | openssl dgst -sha256 -hmac "$NOTIFY_SECRET" -r)
		if curl -sf -m 5 -o /dev/null -H 'Content-Type: application/json' \
			-H "X-Lapse-Signature: t=$time,v1=${digest%% *}" -d "$body" "$GATEWAY_URL/v1/payments/notify"; then
			heard=$((heard + 1))
		else
			sleep 1
		fi
	done
}

# Some orders in time, some that are closed, some that are paid.
bank_orders() {
	local free="AND amount_cents > 0 AND NOT EXISTS (SELECT 1 FROM t_payment p WHERE p.order_no = o.order_no)"
	sql "(SELECT 'early', order_no, amount_cents FROM t_order o WHERE order_no LIKE 'demo-$1-%'
			AND status = 'UNPAID' AND expire_time > UTC_TIMESTAMP(3) + INTERVAL 4 SECOND $free LIMIT 2)
		UNION ALL (SELECT 'late', order_no, amount_cents FROM t_order o WHERE order_no LIKE 'demo-$1-%'
			AND status = 'CLOSED' $free LIMIT 2)
		UNION ALL (SELECT 'second', order_no, amount_cents FROM t_order o WHERE order_no LIKE 'demo-$1-%'
			AND status = 'PAID' $free LIMIT 1)" 2>/dev/null
}

bank() { # STEP
	local kind order_no cents
	trap - EXIT INT TERM
	until [[ -e $FLEET_DIR/bank.stop ]]; do
		while read -r kind order_no cents; do
			bank_notice "$kind" "$order_no" "$cents"
		done < <(bank_orders "$1")
		sleep 1
	done
}

load_start() { # STEP
	rm -f "$FLEET_DIR/bank.stop"
	bank "$1" &
	BANK=$!
	# shellcheck disable=SC2153 # Of the script.
	launch shop "$FLEET_DIR/shop-$1.log" "$BIN/lapse-shop" --env-file "$FLEET_ENV" \
		--orders "$ORDERS" --rate "$RATE" --timeout "$TIMEOUT" --jitter "$JITTER" --pay 0.3 \
		--last-moment 0.3 --skus "$SKUS" --stock-url "$STOCK_URL" --prefix "demo-$1"
}

load_stop() {
	touch "$FLEET_DIR/bank.stop"
	if [[ -n $BANK ]]; then wait "$BANK" || true; fi
	BANK=''
}

all_is_quiet() { take_figures 2>/dev/null && is_quiet; }

load_finish() {
	await_condition $((ORDERS / RATE + 120)) shop_is_over || note "the shop does not come to its end"
	# What it sold last is still to be closed, and the bank to be heard.
	sleep 1
	load_stop
	await_condition 150 all_is_quiet || note "not everything came to its end in 150 s"
}

shop_is_over() { ! live_process "$(pid_file shop)" >/dev/null; }

# await_condition SECONDS COMMAND...
await_condition() {
	local limit=$((SECONDS + $1))
	shift
	until "$@"; do
		((SECONDS < limit)) || return 1
		sleep 0.2
	done
}

# ---- counts

step_total() { sed -n "s/^prefix=demo-$1 .* \{0,1\}$2=\([0-9]*\).*/\1/p" "$FLEET_DIR/shop-$1.log"; }

# All that the shop sold is there; what it says it paid is, and nothing is paid by nobody.
count_missing() {
	local orders paid
	orders=$(step_total "$1" orders) paid=$(step_total "$1" paid)
	sql "SELECT ABS(COUNT(*) - ${orders:-0}) + (COUNT(*) = 0) + GREATEST(0, ${paid:-0} - SUM(status = 'PAID'))
			+ GREATEST(0, SUM(status = 'PAID') - ${paid:-0} - (SELECT COUNT(*) FROM t_payment
				WHERE outcome = 'APPLIED' AND order_no LIKE 'demo-$1-%'))
		FROM t_order WHERE order_no LIKE 'demo-$1-%'"
}

count_left() { if is_quiet; then echo "${FIGURE[dead]}"; else echo 1; fi; }

count_not_once() {
	sql "SELECT (SELECT COUNT(*) FROM t_order o WHERE status = 'CLOSED' AND 1 <> (SELECT COUNT(*)
			FROM t_outbox_event e WHERE e.order_no = o.order_no AND event_type = 'ORDER_CLOSED'))
		+ (SELECT COUNT(*) FROM t_order o WHERE status = 'PAID' AND 1 <> (SELECT COUNT(*)
			FROM t_outbox_event e WHERE e.order_no = o.order_no AND event_type = 'ORDER_PAID'))
		+ (SELECT COUNT(*) FROM t_order_item i JOIN t_order o ON o.id = i.order_id WHERE o.status = 'CLOSED'
			AND i.quantity > 0 AND 1 <> (SELECT COUNT(*) FROM t_compensation c
			WHERE c.idempotency_key = CONCAT('restore:', o.order_no, ':', i.id)))"
}

count_early() {
	sql "SELECT COUNT(*) FROM t_order WHERE (status = 'CLOSED' AND close_reason = 'TIMEOUT' AND close_time < expire_time)
		OR (status = 'PAID' AND pay_time >= expire_time)"
}

# The same rows on each member.
count_differing_nodes() {
	local n table query=''
	for table in t_order t_order_item t_outbox_event t_compensation t_payment t_event_consumed; do
		query+="CHECKSUM TABLE $table EXTENDED;"
	done
	for n in "${NODES[@]}"; do on "$n" db_query "$query" | md5sum; done | sort -u | wc -l | awk '{ print $1 - 1 }'
}

count_status() {
	on_each db_query "SHOW STATUS LIKE '$1'" | awk '{ sum += $2 } END { print sum + 0 }'
}

# One message, in the step that sends one.
count_wrongly_parked() {
	local wanted=0 parked
	[[ $1 != broker_parked ]] || wanted=1
	await_condition 30 has_parked "$wanted" || true
	parked=$(on 1 broker_take_parked)
	echo $((parked > wanted ? parked - wanted : wanted - parked))
}

has_parked() { [[ $(on 1 broker_count_parked) == "$1" ]]; }

verify_failures() {
	if "$BIN/lapsectl" --env-file "$FLEET_ENV" verify >"$FLEET_DIR/verify.log" 2>&1; then echo 0; else
		grep -v '^\[ok\]' "$FLEET_DIR/verify.log" >&2
		echo 1
	fi
}

step_audit() { # STEP
	local repeated wrong_skus effects refunds
	NOTICES_SENT=$(sort -u "$FLEET_DIR/trades" | wc -l)
	take_figures || die "the database does not answer"
	wrong_skus=$(count_wrong_skus)
	repeated=$(curl -sf -m 5 "$STOCK_URL/v1/calls" | jq -r '.repeated')
	audit_check "$(step_total "$1" orders) orders and their payments are there" "$(count_missing "$1")"
	audit_check "all are in their end state, no message or task is left" \
		"$(count_left)"
	audit_check "one event for each close and payment, one restore for each item" "$(count_not_once)"
	audit_check "none closed before its deadline, none paid after it" "$(count_early)"
	audit_check "stock: initial - sold = current" "$wrong_skus"
	audit_check "each restore once in the ledger ($repeated repeated calls had no effect)" "$(count_wrong_restores)"
	refunds=$(curl -sf -m 5 "$RECEIVER_URL/v1/refunds") || refunds='{"refunds":[]}'
	audit_check "$NOTICES_SENT notices recorded once, late and second money back once" "$(count_wrong_refunds "$refunds")"
	effects=$(curl -sf -m 5 "$RECEIVER_URL/v1/effects") || effects='{"hooks":[]}'
	audit_check "each event had one effect at each subscriber" "$(count_wrong_effects "$effects")"
	audit_check "lapsectl verify" "$(verify_failures)"
	audit_check "every program runs and is ready" "$(count_unready)"
	audit_check "the three nodes hold the same rows" "$(count_differing_nodes)"
	audit_check "what is parked is what was malformed" "$(count_wrongly_parked "$1")"
	step_lateness "$1"
	echo "  since each node's start $(count_status wsrep_local_commits) commits, $(count_status wsrep_local_cert_failures) refused at COMMIT," \
		"$(count_status wsrep_local_bf_aborts) taken away by another node's"
}

# How late, by whom, and which deadlines were missed by more than a second: seconds since the fault.
step_lateness() {
	sql "SELECT close_source, TIMESTAMPDIFF(MICROSECOND, expire_time, close_time) DIV 1000,
			ROUND(TIMESTAMPDIFF(MICROSECOND, FROM_UNIXTIME(0), expire_time) / 1000000 - $FAULT_AT, 1)
		FROM t_order WHERE status = 'CLOSED' AND order_no LIKE 'demo-$1-%' ORDER BY 1, 2" |
		awk '{ n[$1]++; late[$1, n[$1]] = $2
			if ($2 > 1000) { over++; if (over == 1 || $3 < from) from = $3; if (over == 1 || $3 > to) to = $3 } }
			END {
				for (source in n) printf "  lateness %-8s %5d closes, p50 %d ms, p99 %d ms, most %.1f s\n", source, n[source],
					late[source, int((n[source] + 1) / 2)], late[source, int(n[source] * 0.99) + (n[source] < 100)],
					late[source, n[source]] / 1000
				if (over) printf "  more than 1 s late: %d, with deadlines %.1f to %.1f s after the fault\n", over, from, to
				else print "  none more than 1 s late"
			}'
}
