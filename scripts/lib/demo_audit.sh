# shellcheck shell=bash
# Part of scripts/demo: did everything come right? Every check counts rows that should not be there.

AUDIT_FAILURES=0

# audit_check 'words' NUMBER: the number should be 0.
audit_check() {
	if [[ $2 == 0 ]]; then
		printf '  [ok]     %s\n' "$1"
	else
		printf '  [FAILED] %s: %s wrong\n' "$1" "$2"
		AUDIT_FAILURES=$((AUDIT_FAILURES + 1))
	fi
}

# What the shop says it has created, so that an order that is lost altogether is missed.
shop_total() { sed -n "s/.*prefix=demo.* $1=\([0-9]*\).*/\1/p" "$FLEET_DIR/shop.log"; }

count_missing_orders() {
	local created paid
	created=$(shop_total orders) paid=$(shop_total paid)
	sql "SELECT ABS(COUNT(*) - ${created:-0}) + ABS(COALESCE(SUM(status = 'PAID'), 0) - ${paid:-0})
		+ (COUNT(*) = 0) FROM t_order WHERE order_no LIKE 'demo-%'"
}

# Every order of the sale is there and had the time to pay of the rule it was bought under.
count_wrong_deadlines() {
	sql "SELECT ABS(COUNT(*) - $((SALES * SALE_ORDERS))) + COALESCE(SUM(ABS(TIMESTAMPDIFF(MICROSECOND,
			created_at, expire_time) - IF(order_no LIKE 'flash-1-%', ${SALE_SECONDS[1]},
			${SALE_SECONDS[2]}) * 1000000) > 500000), 0)
		FROM t_order WHERE order_no LIKE 'flash-%'"
}

# What the refund service gave back against what came for orders that could not take it.
count_wrong_refunds() {
	local trades
	trades=$(sql "SELECT COUNT(*) FROM t_payment")
	{
		diff <(jq -r '.refunds[] | "\(.trade_no) \(.order_no) \(.amount_cents)"' <<<"$1" | sort) \
			<(sql "SELECT trade_no, order_no, amount_cents FROM t_payment WHERE outcome IN
				('LATE', 'DUPLICATE') AND refund_state = 'DONE'" | tr '\t' ' ' | sort) || true
		((${trades:-0} == NOTICES_SENT && NOTICES_SENT > 0)) || echo "< $NOTICES_SENT > ${trades:-0}"
	} | grep -c '^[<>]' || true
}

count_open_tasks() { sql "SELECT COUNT(*) FROM t_compensation WHERE status <> 'DONE'"; }

# Asked over HTTP, as any other program would.
count_wrong_skus() {
	local stock
	stock=$(curl -sf -m 5 "$STOCK_URL/v1/stock") || {
		echo all
		return 0
	}
	jq -r '.stock[] | "\(.sku_id) \(.quantity)"' <<<"$stock" | sort |
		join -a 1 -a 2 -e 0 -o 0,1.2,2.2 - <(sql "SELECT i.sku_id, SUM(i.quantity) FROM t_order o
			JOIN t_order_item i ON i.order_id = o.id WHERE o.status = 'PAID'
			GROUP BY i.sku_id" | tr '\t' ' ' | sort) |
		awk -v initial="$STOCK_EACH" 'initial - $3 != $2 { wrong++ } END { print wrong + 0 }'
}

# The key is unique in the ledger, so a restore stands there once or not at all.
count_wrong_restores() {
	sql "SELECT (SELECT COUNT(*) FROM t_compensation c LEFT JOIN t_stock_ledger l
			ON l.idempotency_key = c.idempotency_key AND l.kind = 'restore'
			AND l.quantity = JSON_VALUE(c.payload, '\$.quantity')
			AND l.sku_id = JSON_VALUE(c.payload, '\$.sku_id')
			WHERE c.kind = 'STOCK_RESTORE' AND l.idempotency_key IS NULL)
		+ (SELECT COUNT(*) FROM t_stock_ledger l LEFT JOIN t_compensation c
			ON c.idempotency_key = l.idempotency_key
			WHERE l.kind = 'restore' AND c.id IS NULL)"
}

count_tasks() { sql "SELECT COUNT(*) FROM t_compensation WHERE kind = '$1' AND status = 'DONE'"; }

# One effect at each subscriber for each event it wants, whatever came how often.
count_wrong_effects() {
	local effects=$1 entry name types events
	for entry in "${SUBSCRIBERS[@]}"; do
		name=${entry%%:*} types=${entry#*:}
		events=$(sql "SELECT COUNT(*) FROM t_outbox_event WHERE event_type IN ('${types//,/"','"}')")
		jq -r --arg name "$name" --argjson events "${events:-0}" \
			'([.hooks[] | select(.name == $name)][0] // {effects: 0, changed: 0}) |
			(.effects - $events | fabs) + .changed' <<<"$effects"
	done | awk '{ wrong += $1 } END { print wrong + 0 }'
}

lateness() {
	sql "SELECT COALESCE(ROUND(MAX(TIMESTAMPDIFF(MICROSECOND, expire_time, close_time)) / 1000000, 2), 0)
		FROM t_order WHERE close_source = '$1'"
}

audit() {
	local repeated wrong_skus effects refunds
	echo "Audit after $SECONDS s"
	take_figures || die "MariaDB does not answer"
	wrong_skus=$(count_wrong_skus)
	repeated=$(curl -sf -m 5 "$STOCK_URL/v1/calls" | jq -r '.repeated')
	audit_check "every order the shop created is there, and every payment it made" \
		"$(count_missing_orders)"
	audit_check "${FIGURE[orders]} orders are in their end state: ${FIGURE[paid]} paid, ${FIGURE[closed]} closed" \
		"${FIGURE[unpaid]}"
	audit_check "$((SALES * SALE_ORDERS)) orders of the flash sale had the time of their rule: ${SALE_SECONDS[1]} s, later ${SALE_SECONDS[2]} s" \
		"$(count_wrong_deadlines)"
	audit_check "$(count_tasks STOCK_RESTORE) restore tasks, $(count_tasks REFUND) refund tasks and $(count_tasks WEBHOOK) webhook tasks are done" \
		"$(count_open_tasks)"
	audit_check "stock of $SKUS SKUs: initial - sold = current" "$wrong_skus"
	audit_check "each restore stands once in the ledger ($repeated repeated calls had no effect)" \
		"$(count_wrong_restores)"
	refunds=$(curl -sf -m 5 "$RECEIVER_URL/v1/refunds") || refunds='{"refunds":[]}'
	audit_check "$NOTICES_SENT payments came too late or twice, and each went back once ($(jq -r '[.refunds[].calls - 1] |
		add // 0' <<<"$refunds") repeated calls had no effect)" "$(count_wrong_refunds "$refunds")"
	effects=$(curl -sf -m 5 "$RECEIVER_URL/v1/effects") || effects='{"hooks":[]}'
	audit_check "each event had one effect at each subscriber: $(jq -r '[.hooks | sort_by(.name)[] |
		"\(.name) \(.effects)"] | join(", ")' <<<"$effects") ($(jq -r '[.hooks[] | .calls - .effects] |
		add // 0' <<<"$effects") repeated calls had none)" "$(count_wrong_effects "$effects")"
	if "$BIN/lapsectl" --env-file "$FLEET_ENV" verify >"$FLEET_DIR/verify.log" 2>&1; then
		audit_check "lapsectl verify: $(grep -c '^\[ok\]' "$FLEET_DIR/verify.log") checks" 0
	else
		audit_check "lapsectl verify" "$(grep -cv '^\[ok\]' "$FLEET_DIR/verify.log")"
		cat "$FLEET_DIR/verify.log"
	fi
	echo "  closed by message: ${FIGURE[message]}, at most $(lateness message) s late;" \
		"by sweep: ${FIGURE[sweep]}, at most $(lateness sweep) s late"
	if ((AUDIT_FAILURES == 0)); then echo "The audit holds."; else echo "The audit does NOT hold."; fi
}
