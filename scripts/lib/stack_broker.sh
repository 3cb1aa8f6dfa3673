# shellcheck shell=bash
# Part of scripts/stack: the private RabbitMQ and its epmd.
# Uses STATE and the functions of stack_common.sh.
# Guarantees: settings come from the stack's folder alone, never from /etc/rabbitmq or from the
# caller's environment; the packaged wrapper, which wants the user rabbitmq and the system's
# folders, is not used.

# The name after "@" is looked up to find the node: localhost is loopback on every machine.
broker_node() { echo "lapse-$STACK_NAME@localhost"; }

rabbitmq_home() {
	local homes
	if [[ -n ${STACK_RABBITMQ_HOME:-} ]]; then
		echo "$STACK_RABBITMQ_HOME"
		return 0
	fi
	homes=(/usr/lib/rabbitmq/lib/rabbitmq_server-*/)
	[[ -x ${homes[-1]}sbin/rabbitmq-server ]] || die "RabbitMQ is missing; run: scripts/setup"
	echo "${homes[-1]%/}"
}

broker_create() {
	need erl
	local dir=$STACK_DIR/broker
	rabbitmq_home >/dev/null
	mkdir -p "$dir"/{home,log,plugins,expand,generated,conf.d,mnesia}
	random_hex 20 >"$dir/home/.erlang.cookie"
	# Erlang refuses a cookie that anybody else can read.
	chmod 400 "$dir/home/.erlang.cookie"
	STATE["home"]=$(rabbitmq_home)
	save_state
	delay_prepare
	broker_write_settings "$dir"
}

broker_write_settings() {
	local dir=$1 plugins=()
	{
		cat <<-SETTINGS
			listeners.tcp.1 = 127.0.0.1:${STATE[amqp_port]}
			listeners.ssl.1 = 127.0.0.1:${STATE[amqps_port]}
			ssl_options.cacertfile = $(tls_file authority.pem)
			ssl_options.certfile = $(tls_file server.pem)
			ssl_options.keyfile = $(tls_file server.key)
			ssl_options.verify = verify_none
			default_vhost = lapse
			default_user = lapse
			default_pass = ${STATE[user_password]}
			default_user_tags.administrator = true
			default_permissions.configure = .*
			default_permissions.read = .*
			default_permissions.write = .*
			disk_free_limit.absolute = 50MB
			log.dir = $dir/log
			log.file = broker.log
			log.file.level = info
			log.console = false
		SETTINGS
		if [[ -n ${STATE[consumer_timeout]} ]]; then
			echo "consumer_timeout = ${STATE[consumer_timeout]}"
		fi
		if [[ ${STATE[management]} == 1 ]]; then
			echo "management.tcp.ip = 127.0.0.1"
			echo "management.tcp.port = ${STATE[management_port]}"
		fi
	} >"$dir/rabbitmq.conf"
	# These three exist only so that the files in /etc/rabbitmq are not read instead.
	echo '[].' >"$dir/advanced.config"
	: >"$dir/rabbitmq-env.conf"
	: >"$dir/conf.d/empty.conf"
	[[ ${STATE[management]} == 0 ]] || plugins+=(rabbitmq_management)
	[[ -z $(delay_application) ]] || plugins+=("$(delay_application)")
	local IFS=,
	echo "[${plugins[*]}]." >"$dir/enabled_plugins"
}

# Sets BROKER_ENV: a command prefix with exactly the environment that this broker needs.
# Distribution (node and tools) and epmd are bound to loopback. The private epmd is started by
# us and by nobody else (-start_epmd false), so that none is left behind. Tools listen on any
# free port (0) instead of fixed ones that two stacks would fight for.
use_broker_env() {
	local dir=$STACK_DIR/broker
	local loopback='-start_epmd false -kernel inet_dist_use_interface {127,0,0,1}'
	BROKER_ENV=(env -i PATH="$PATH" LANG=C.UTF-8 HOME="$dir/home"
		ERL_EPMD_ADDRESS=127.0.0.1
		ERL_EPMD_PORT="${STATE[epmd_port]}"
		RABBITMQ_NODENAME="$(broker_node)"
		RABBITMQ_DIST_PORT="${STATE[dist_port]}"
		RABBITMQ_CONF_ENV_FILE="$dir/rabbitmq-env.conf"
		RABBITMQ_CONFIG_FILE="$dir/rabbitmq.conf"
		RABBITMQ_CONFIG_FILES="$dir/conf.d/*.conf"
		RABBITMQ_ADVANCED_CONFIG_FILE="$dir/advanced.config"
		RABBITMQ_GENERATED_CONFIG_DIR="$dir/generated"
		RABBITMQ_ENABLED_PLUGINS_FILE="$dir/enabled_plugins"
		RABBITMQ_PLUGINS_DIR="$dir/plugins:${STATE[home]}/plugins"
		RABBITMQ_PLUGINS_EXPAND_DIR="$dir/expand"
		RABBITMQ_MNESIA_BASE="$dir/mnesia"
		RABBITMQ_LOG_BASE="$dir/log"
		RABBITMQ_PID_FILE="$dir/server.pid"
		RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS="$loopback"
		RABBITMQ_CTL_ERL_ARGS="$loopback"
		RABBITMQ_CTL_DIST_PORT_MIN=0
		RABBITMQ_CTL_DIST_PORT_MAX=0)
}

epmd_answers() { "${BROKER_ENV[@]}" epmd -names >/dev/null 2>&1; }

epmd_start() {
	live_process "$(pid_file epmd)" >/dev/null && return 0
	need epmd
	launch epmd "$STACK_DIR/broker/epmd.log" "${BROKER_ENV[@]}" epmd
	await 10 epmd epmd_answers ||
		die "epmd did not start: $(tail -n 3 "$STACK_DIR/broker/epmd.log")"
}

epmd_stop() { end_process epmd KILL 10; }

broker_running() { live_process "$(pid_file broker)" >/dev/null; }

broker_launch() {
	use_broker_env
	epmd_start
	# RUNNING_UNDER_SYSTEMD makes the start script replace itself by the Erlang machine, so
	# that the pid we remember is the broker itself and a kill -9 hits it.
	launch broker "$STACK_DIR/broker/start.log" "${BROKER_ENV[@]}" RUNNING_UNDER_SYSTEMD=true \
		"${STATE[home]}/sbin/rabbitmq-server"
}

# Evaluates an Erlang expression inside the broker: broker_eval SECONDS 'expression'; prints
# {ok, Result}. erl_call is a small C program and answers in milliseconds; rabbitmqctl starts
# an Erlang machine first. The limit is for a frozen broker. Each call is a node with a name of
# its own, as the broker refuses a second node of the same name (erl_call would be c17 each time).
broker_eval() {
	use_broker_env
	timeout "$1" "${BROKER_ENV[@]}" erl_call -h "call-$BASHPID" -address "127.0.0.1:${STATE[dist_port]}" -e <<<"$2."
}

broker_answers() { [[ $(broker_eval 5 'rabbit:is_booted()' 2>/dev/null) == '{ok, true}' ]]; }

broker_await() {
	await 60 broker broker_answers ||
		die "RabbitMQ did not start: $(tail -n 5 "$STACK_DIR/broker/start.log"); see also $STACK_DIR/broker/log"
}

broker_start() {
	if broker_running; then
		note "RabbitMQ is already running"
		return 0
	fi
	broker_launch
	broker_await
}

broker_stop() { end_process broker TERM 60; }

broker_kill() { end_process broker KILL 10; }

broker_ctl() {
	use_broker_env
	exec "${BROKER_ENV[@]}" "${STATE[home]}/sbin/rabbitmqctl" "$@"
}

# The alarm is a fact inside the broker, so we wait until it says so itself.
broker_alarm_is() {
	local alarms
	alarms=$(broker_eval 5 'rabbit_alarm:get_alarms()') || return 1
	[[ $1 == on && $alarms == *memory* ]] || [[ $1 == off && $alarms != *memory* ]]
}

broker_block() {
	broker_eval 10 'vm_memory_monitor:set_vm_memory_high_watermark(0)' >/dev/null
	await 20 broker broker_alarm_is on || die "the memory alarm did not go on"
}

# 0.4 is the broker's own default.
broker_unblock() {
	broker_eval 10 'vm_memory_monitor:set_vm_memory_high_watermark(0.4)' >/dev/null
	await 20 broker broker_alarm_is off || die "the memory alarm did not go off"
}

broker_describe() {
	local address alarms
	address="127.0.0.1:${STATE[amqp_port]}, node $(broker_node)"
	[[ ${STATE[management]} == 0 ]] || address+=", management 127.0.0.1:${STATE[management_port]}"
	describe_process broker rabbitmq "$address" || return 1
	echo "         x-delayed-message: $(delay_provider)"
	alarms=$(broker_eval 5 'rabbit_alarm:get_alarms()' 2>/dev/null) || alarms=
	[[ $alarms == '{ok, []}' ]] || echo "         alarms: ${alarms:-unknown}"
}

check_vhost_name() {
	# The name becomes part of an Erlang term, and of an AMQP address without encoding.
	[[ $1 =~ ^[A-Za-z0-9_.-]{1,200}$ ]] || die "virtual host: letters, digits, _ . and -"
}

# Both are one call inside the broker, and may be repeated.
broker_add_vhost() {
	check_vhost_name "$1"
	local answer
	answer=$(broker_eval 30 "Lapse = <<\"lapse\">>, VHost = <<\"$1\">>, All = <<\".*\">>,
		ok = rabbit_vhost:add(VHost, Lapse),
		rabbit_auth_backend_internal:set_permissions(Lapse, VHost, All, All, All, Lapse)")
	[[ $answer == '{ok, ok}' ]] || die "add-vhost $1: $answer"
}

broker_delete_vhost() {
	check_vhost_name "$1"
	local answer
	answer=$(broker_eval 60 "rabbit_vhost:exists(<<\"$1\">>) andalso
		rabbit_vhost:delete(<<\"$1\">>, <<\"lapse\">>)")
	[[ $answer == '{ok, ok}' || $answer == '{ok, false}' ]] || die "delete-vhost $1: $answer"
}

# As "rabbitmqctl close_all_connections --vhost" does it.
broker_close_connections() {
	check_vhost_name "$1"
	local answer
	answer=$(broker_eval 30 "lists:foreach(fun(Connection) ->
			rabbit_networking:close_connection(element(6, Connection), \"closed by scripts/stack\")
		end, rabbit_connection_tracking:list(<<\"$1\">>))")
	[[ $answer == '{ok, ok}' ]] || die "close-connections $1: $answer"
}

# The broker's own defaults are 30 minutes, looked at every minute.
broker_set_consumer_timeout() {
	local timeout=$1 tick=1000 answer
	if [[ $timeout == default ]]; then
		timeout=${STATE[consumer_timeout]:-1800000} tick=60000
	fi
	[[ $timeout =~ ^[0-9]{1,9}$ ]] || die "consumer-timeout: milliseconds or default"
	answer=$(broker_eval 10 "application:set_env(rabbit, consumer_timeout, $timeout),
		application:set_env(rabbit, channel_tick_interval, $tick)")
	[[ $answer == '{ok, ok}' ]] || die "consumer-timeout: $answer"
}

# As the other members of a cluster see a classic queue whose node is away: known, and not there.
broker_hide_queue() { # VHOST QUEUE
	broker_change_queue "$1" "$2" 'mnesia:dirty_delete(rabbit_queue, Name)'
}

broker_show_queue() { # VHOST QUEUE
	broker_change_queue "$1" "$2" 'mnesia:dirty_write(rabbit_queue, rabbit_queue_decorator:set(Q))'
}

broker_change_queue() {
	check_vhost_name "$1"
	check_vhost_name "$2"
	local answer
	answer=$(broker_eval 10 "Name = rabbit_misc:r(<<\"$1\">>, queue, <<\"$2\">>),
		[Q] = mnesia:dirty_read(rabbit_durable_queue, Name), $3")
	[[ $answer == '{ok, ok}' ]] || die "queue $2: $answer"
}
