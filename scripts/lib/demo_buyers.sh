# shellcheck shell=bash
# Part of scripts/demo: what comes in over HTTP: orders of a flash sale, whose time to pay is that of
# a timeout rule, and the notices of a bank about money for orders that cannot take it any more.

readonly SALE_ORDERS=5
readonly NOTICES=5
readonly SALE_SECONDS=(0 3 6)
NOTIFY_SECRET=$(head -c 24 /dev/urandom | base64)
SALES=0 NOTICES_SENT=0

lapsectl() { "$BIN/lapsectl" --env-file "$FLEET_ENV" "$@" >>"$FLEET_DIR/lapsectl.log" 2>&1 7>&-; }

# The younger of two equal rules wins; the older one is ended as well, as it is of no use any more.
set_sale_rule() {
	local old
	old=$(sql "SELECT id FROM t_timeout_rule WHERE channel = 'flash' AND valid_to IS NULL")
	lapsectl rule add --yes --channel flash --timeout "${SALE_SECONDS[$1]}s" || return 1
	[[ -z $old ]] || lapsectl rule expire --yes "$old"
}

post() { curl -sf -m 5 -H 'Content-Type: application/json' "$@" >>"$FLEET_DIR/buyers.log" 2>&1 7>&- || true; }

# The stock is reserved first, as any shop does it.
buy_in_sale() {
	local i order_no
	SALES=$((SALES + 1))
	for ((i = 1; i <= SALE_ORDERS; i++)); do
		order_no=flash-$SALES-$i
		post -d "{\"reserves\":[{\"idempotency_key\":\"reserve:$order_no:1\",\"order_no\":\"$order_no\",
			\"sku_id\":\"SKU-$i\",\"quantity\":1}]}" "$STOCK_URL/v1/stock/reserves"
		post -d "{\"order_no\":\"$order_no\",\"user_id\":\"7\",\"amount_cents\":9900,
			\"items\":[{\"sku_id\":\"SKU-$i\",\"quantity\":1}],\"attributes\":{\"channel\":\"flash\"}}" \
			"$GATEWAY_URL/v1/orders"
	done
}

# notify ORDER_NO CENTS: the bank says it twice, as banks do.
notify() {
	local body time digest
	body="{\"channel\":\"bank\",\"trade_no\":\"late-$1\",\"order_no\":\"$1\",\"amount_cents\":$2,\"currency\":\"CNY\",\"state\":\"paid\"}"
	printf -v time '%(%s)T' -1
	digest=$(printf '%s.%s' "$time" "$body" | openssl dgst -sha256 -hmac "$NOTIFY_SECRET" -r)
	for _ in 1 2; do
		post -H "X-Lapse-Signature: t=$time,v1=${digest%% *}" -d "$body" "$GATEWAY_URL/v1/payments/notify"
	done
}

# Money for some orders that are CLOSED or PAID already and of which no money came yet.
pay_orders_that_are() {
	local order_no cents
	while read -r order_no cents; do
		NOTICES_SENT=$((NOTICES_SENT + 1))
		notify "$order_no" "$cents"
	done < <(sql "SELECT order_no, amount_cents FROM t_order o WHERE status = '$1'
		AND order_no LIKE 'demo-%' AND amount_cents > 0
		AND NOT EXISTS (SELECT 1 FROM t_payment p WHERE p.order_no = o.order_no) LIMIT $NOTICES")
}
