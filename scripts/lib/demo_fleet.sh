# shellcheck shell=bash
# Part of scripts/demo: the product service, those who are told about events, and the fleet.
# Uses STACK_DIR and the functions of stack_common.sh; every program is known by pid and start time.

readonly BIN=$STACK_ROOT/build/release/bin
readonly SKUS=20
readonly STOCK_EACH=10000
FLEET_DIR='' FLEET_ENV='' STOCK_URL='' RECEIVER_URL='' GATEWAY_URL=''

# Name and program, in the order of their start; a script may have named its own.
[[ -v FLEET ]] || FLEET=(producer:lapse-producer consumer-1:lapse-consumer consumer-2:lapse-consumer
	sweeper:lapse-sweeper retry:lapse-retry gateway:lapse-gateway events-1:lapse-events
	events-2:lapse-events)

# Who is told about which events.
readonly SUBSCRIBERS=(coupons:ORDER_CLOSED
	"notify:ORDER_CLOSED,ORDER_PAID,PAYMENT_LATE,PAYMENT_DUPLICATE"
	shipment:ORDER_PAID points:ORDER_PAID)
declare -A SECRETS=()

# What the caller has in the environment is not meant for the demo.
fleet_forget_environment() {
	local name
	for name in "${!LAPSE_@}"; do
		[[ $name == LAPSE_TEST_PLUGIN_DIR ]] || unset "$name"
	done
}

fleet_prepare() {
	mkdir -p "$FLEET_DIR"
	{
		stack env --plain | grep '^LAPSE_'
		cat <<-SETTINGS
			LAPSE_LOG_FORMAT=json
			LAPSE_OPS_ADDR=127.0.0.1:0
			LAPSE_SWEEP_INTERVAL=2s
			LAPSE_LEASE=15s
			LAPSE_RETRY_BASE=1s
			LAPSE_RETRY_CAP=5s
			LAPSE_ENV_LABEL=demo
			LAPSE_WEBHOOKS_FILE=$FLEET_DIR/webhooks
			LAPSE_GATEWAY_ADDR=127.0.0.1:0
			LAPSE_NOTIFY_SECRET=$NOTIFY_SECRET
		SETTINGS
	} >"$FLEET_ENV"
}

# The last value a program logged since its start: fleet_logged NAME EVENT KEY.
fleet_logged() {
	local pid
	pid=$(live_process "$(pid_file "$1")") || return 1
	sed -n "/\"event\":\"started\".*\"pid\":$pid,/,\$p" "$FLEET_DIR/$1.log" |
		sed -n "s/.*\"event\":\"$2\".*\"$3\":\"\{0,1\}\([^\",}]*\).*/\1/p" | tail -n 1
}

fleet_has_logged() { [[ -n $(fleet_logged "$@") ]]; }

fleet_launch() {
	local name=$1 entry
	for entry in "${FLEET[@]}"; do
		[[ ${entry%%:*} == "$name" ]] || continue
		LAPSE_INSTANCE=$name launch "$name" "$FLEET_DIR/$name.log" \
			"$BIN/${entry#*:}" --env-file "$FLEET_ENV" 7>&-
	done
}

fleet_is_ready() {
	local port
	port=$(fleet_logged "$1" started ops_port)
	[[ -n $port ]] && curl -sf -m 2 -o /dev/null "http://127.0.0.1:$port/readyz"
}

# The receiver looks for names and secrets only, so it can start before its port is known.
write_webhooks() {
	local entry name
	for entry in "${SUBSCRIBERS[@]}"; do
		name=${entry%%:*}
		[[ -n ${SECRETS[$name]:-} ]] || SECRETS[$name]=whsec_$(head -c 24 /dev/urandom | base64)
		echo "$name ${entry#*:} $1/hooks/$name ${SECRETS[$name]}"
	done >"$FLEET_DIR/webhooks"
}

start_receiver() {
	write_webhooks http://127.0.0.1:9
	launch receiver "$FLEET_DIR/receiver.log" \
		"$BIN/lapse-receiver" --env-file "$FLEET_ENV" --listen 127.0.0.1:0 7>&-
	await 20 receiver fleet_has_logged receiver listening port ||
		die "lapse-receiver did not start: $(tail -n 3 "$FLEET_DIR/receiver.log")"
	RECEIVER_URL=http://127.0.0.1:$(fleet_logged receiver listening port)
	write_webhooks "$RECEIVER_URL"
	echo "LAPSE_REFUND_URL=$RECEIVER_URL" >>"$FLEET_ENV"
}

fleet_start() {
	local entry name sku
	start_receiver
	launch stock "$FLEET_DIR/stock.log" \
		"$BIN/lapse-stock" --env-file "$FLEET_ENV" --listen 127.0.0.1:0 7>&-
	await 20 stock fleet_has_logged stock listening port ||
		die "lapse-stock did not start: $(tail -n 3 "$FLEET_DIR/stock.log")"
	STOCK_URL=http://127.0.0.1:$(fleet_logged stock listening port)
	echo "LAPSE_STOCK_URL=$STOCK_URL" >>"$FLEET_ENV"
	await 20 stock fleet_is_ready stock || die "lapse-stock is not ready"
	for ((sku = 1; sku <= SKUS; sku++)); do
		curl -sf -m 5 -o /dev/null -X PUT -d "{\"quantity\": $STOCK_EACH}" \
			"$STOCK_URL/v1/stock/SKU-$sku"
	done
	for entry in "${FLEET[@]}"; do fleet_launch "${entry%%:*}"; done
	for entry in "${FLEET[@]}"; do
		name=${entry%%:*}
		await 30 "$name" fleet_is_ready "$name" ||
			die "${entry#*:} is not ready: $(tail -n 3 "$FLEET_DIR/$name.log")"
	done
	GATEWAY_URL=http://127.0.0.1:$(fleet_logged gateway listening port)
}

fleet_delay_mode() { fleet_logged producer publisher_ready delay; }

fleet_kill() { end_process "$1" KILL 5; }

# In the order of the data, each in its own time; those who are called last.
fleet_stop() {
	local entry name pid
	for entry in shop: "${FLEET[@]}" stock: receiver:; do
		if pid=$(live_process "$(pid_file "${entry%%:*}")"); then kill -s TERM "$pid"; fi
	done
	for entry in shop: "${FLEET[@]}" stock: receiver:; do
		name=${entry%%:*}
		end_process "$name" CONT 30
	done
}

fleet_tell() {
	local entry name
	echo
	echo "Everything goes on running. To look around:"
	echo "  settings         ${FLEET_ENV#"$PWD"/}"
	echo "  for example      ${BIN#"$PWD"/}/lapsectl --env-file ${FLEET_ENV#"$PWD"/} verify"
	echo "  product service  $STOCK_URL/v1/stock"
	echo "  receivers        $RECEIVER_URL/v1/effects, $RECEIVER_URL/v1/refunds"
	echo "  HTTP API         $GATEWAY_URL/v1/orders/demo-1"
	for entry in "${FLEET[@]}"; do
		name=${entry%%:*}
		printf '  %-16s http://127.0.0.1:%s/metrics\n' "$name" \
			"$(fleet_logged "$name" started ops_port)"
	done
	echo "To end it: scripts/demo --stop"
}
