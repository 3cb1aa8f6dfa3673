# shellcheck shell=bash
# Part of scripts/stack: who offers the exchange type x-delayed-message.
# Debian has no package of the delayed-message plugin. STATE[delay] says what stands in: none,
# test (our own, tests/support/delay_exchange) or plugin (what LAPSE_TEST_PLUGIN_DIR holds).

readonly TEST_EXCHANGE=lapse_test_delay_exchange
readonly REAL_PLUGIN=rabbitmq_delayed_message_exchange

# The name of the broker's application to enable; nothing when no type is to be offered.
delay_application() {
	case ${STATE[delay]} in
	test) echo "$TEST_EXCHANGE" ;;
	plugin) echo "$REAL_PLUGIN" ;;
	esac
}

# Lays the plugin into the stack's own plugin folder, which the broker searches beside its own.
delay_prepare() {
	case ${STATE[delay]} in
	test) delay_compile "$STACK_DIR/broker/plugins/$TEST_EXCHANGE-1.0.0/ebin" ;;
	plugin) delay_copy "$STACK_DIR/broker/plugins" ;;
	esac
}

# Compiled against this very broker's records, at each new stack: no binary is ever kept.
delay_compile() {
	local ebin=$1 source=$STACK_ROOT/tests/support/delay_exchange
	need erlc
	mkdir -p "$ebin"
	ERL_LIBS="${STATE[home]}/plugins" erlc -Werror -o "$ebin" "$source"/*.erl 9>&- ||
		die "the test exchange does not compile against this RabbitMQ"
	cp "$source/$TEST_EXCHANGE.app" "$ebin/"
}

# The folder may hold an .ez file, an unpacked plugin, or be one itself.
delay_copy() {
	local from=${LAPSE_TEST_PLUGIN_DIR:?} found
	if [[ -f $from/ebin/$REAL_PLUGIN.app ]]; then
		mkdir -p "$1/$REAL_PLUGIN-0"
		cp -RL "$from/ebin" "$1/$REAL_PLUGIN-0/"
		return 0
	fi
	for found in "$from/$REAL_PLUGIN"*.ez "$from/$REAL_PLUGIN"*/; do
		if [[ -f $found || -f $found/ebin/$REAL_PLUGIN.app ]]; then
			cp -RL "${found%/}" "$1/"
			return 0
		fi
	done
	die "LAPSE_TEST_PLUGIN_DIR: no $REAL_PLUGIN in $from"
}

# Asks the broker itself, since what was wished for and what was loaded may differ.
delay_provider() {
	local answer
	answer=$(broker_eval 5 "case rabbit_registry:lookup_module(exchange, 'x-delayed-message') of
		{ok, Module} -> element(2, application:get_application(Module)); _ -> none end" 2>/dev/null) ||
		answer=
	case $answer in
	"{ok, $TEST_EXCHANGE}") echo "our own test exchange ($TEST_EXCHANGE)" ;;
	"{ok, $REAL_PLUGIN}") echo "the plugin $REAL_PLUGIN" ;;
	'{ok, none}') echo "not offered" ;;
	*) echo "unknown (the broker does not answer)" ;;
	esac
}
