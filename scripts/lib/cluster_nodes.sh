# shellcheck shell=bash
# Each node has a STATE of its own, in a shell of its own.
# shellcheck disable=SC2030,SC2031
# Part of scripts/cluster-check: three RabbitMQ and three Galera nodes with HAProxy in front.
# Uses the functions of stack_*.sh. Each node is a stack of its own, named after the cluster; cookie,
# epmd and passwords are those of the first one, as nodes of one cluster need it.
# Guarantees: as scripts/stack; loopback only, ports of our own.

readonly CLUSTER=cluster-check
readonly NODES=(1 2 3)
readonly GALERA=/usr/lib/galera/libgalera_smm.so

# on N COMMAND...: in a shell of its own, as node N.
on() (
	use_stack "$CLUSTER-$1"
	STATE=()
	require_state
	shift
	"$@"
)

on_each() {
	local n
	for n in "${NODES[@]}"; do on "$n" "$@"; done
}

# node_value N KEY
node_value() { sed -n "s/^$2=//p" "$STACK_ROOT/.stack/$CLUSTER-$1/state"; }

node_make() ( # N
	local n=$1
	use_stack "$CLUSTER-$n"
	mkdir -p "$STACK_DIR"
	STATE=()
	choose_ports db_port galera_port ist_port sst_port amqp_port amqps_port dist_port epmd_port \
		management_port
	STATE["user_password"]=$(random_hex 16)
	STATE["db"]=1 STATE["broker"]=1 STATE["management"]=0 STATE["delay"]=none STATE["binlog"]=0
	STATE["consumer_timeout"]='' STATE["buffer_pool"]=128M STATE["log_file_size"]=96M
	if ((n > 1)); then
		STATE["epmd_port"]=$(node_value 1 epmd_port)
		STATE["user_password"]=$(node_value 1 user_password)
	fi
	save_state
	tls_create
	if ((n == 1)); then
		db_create
	else
		# The rest comes from the first node, as for any that joins.
		mkdir -p "$STACK_DIR/db/tmp" "$STACK_DIR/db/data"
		if ((${#STACK_DIR} > 85)); then STATE["socket_dir"]=$(mktemp -d /tmp/lapse-stack.XXXXXX); fi
		STATE["root_password"]=$(node_value 1 root_password)
		db_write_settings "$STACK_DIR/db"
		rm "$STACK_DIR/db/init.sql"
	fi
	broker_create
	if ((n > 1)); then
		cat "$STACK_ROOT/.stack/$CLUSTER-1/broker/home/.erlang.cookie" >"$STACK_DIR/cookie"
		chmod 400 "$STACK_DIR/cookie"
		mv -f "$STACK_DIR/cookie" "$STACK_DIR/broker/home/.erlang.cookie"
	fi
	STATE["made"]=1
	save_state
)

# What docs/deploy.md asks of a member; needs the ports of all.
node_join_settings() {
	local n=${STACK_NAME##*-} i members=''
	for i in "${NODES[@]}"; do members+=,127.0.0.1:$(node_value "$i" galera_port); done
	cat >>"$STACK_DIR/db/server.cnf" <<-SETTINGS
		wsrep-on = ON
		wsrep-provider = $GALERA
		wsrep-cluster-name = $CLUSTER
		wsrep-cluster-address = gcomm://${members#,}
		wsrep-node-name = node-$n
		wsrep-node-address = 127.0.0.1
		wsrep-node-incoming-address = 127.0.0.1:${STATE[db_port]}
		wsrep-provider-options = "base_host=127.0.0.1;base_port=${STATE[galera_port]};gmcast.listen_addr=tcp://127.0.0.1:${STATE[galera_port]};ist.recv_addr=127.0.0.1:${STATE[ist_port]};gcache.size=256M"
		wsrep-slave-threads = 2
		binlog-format = ROW
		innodb-autoinc-lock-mode = 2
		log-bin-trust-function-creators = 1
		wsrep-sst-method = mariabackup
		wsrep-sst-auth = root:${STATE[root_password]}
		wsrep-sst-receive-address = 127.0.0.1:${STATE[sst_port]}
		[sst]
		ssl-mode = DISABLED
		sst-log-archive = 0
	SETTINGS
	node_cluster_settings
}

node_cluster_settings() {
	local i
	{
		echo "cluster_partition_handling = pause_minority"
		echo "cluster_formation.peer_discovery_backend = classic_config"
		for i in "${NODES[@]}"; do
			echo "cluster_formation.classic_config.nodes.$i = lapse-$CLUSTER-$i@localhost"
		done
	} >>"$STACK_DIR/broker/rabbitmq.conf"
	# What a queue passes on to one whose leader dies is passed on again after so long, not 3 minutes.
	echo '[{rabbit, [{dead_letter_worker_publisher_confirm_timeout, 5000}]}].' >"$STACK_DIR/broker/advanced.config"
}

# ---- database

# A node that was killed does not know where it stood; its tables do.
db_position() {
	local log=$STACK_DIR/db/recover.log as=()
	[[ $(id -u) != 0 ]] || as=(--user=root)
	rm -f "$log"
	mariadbd --defaults-file="$STACK_DIR/db/server.cnf" "${as[@]}" --log-error="$log" \
		--wsrep-recover >/dev/null 2>&1 || true
	sed -n 's/.*Recovered position:* *\([0-9a-f-]*:-*[0-9]*\).*/\1/p' "$log" | tail -n 1
}

db_join() {
	local position=''
	db_running && return 0
	if [[ -e $STACK_DIR/db/data/ibdata1 ]]; then position=$(db_position); fi
	if [[ -n $position ]]; then DB_OPTIONS=(--wsrep-start-position="$position"); fi
	db_launch
}

db_query() { mariadb --defaults-file="$STACK_DIR/db/client.cnf" --connect-timeout=2 -N -B lapse -e "$1" 2>>"$STACK_DIR/db/query.log"; }

db_is_synced() { [[ $(db_query "SHOW STATUS LIKE 'wsrep_local_state_comment'") == *Synced ]]; }

db_has_size() { [[ $(db_query "SHOW STATUS LIKE 'wsrep_cluster_size'") == *[[:space:]]$1 ]] && db_is_synced; }

db_await_synced() {
	await 90 db db_is_synced || die "node ${STACK_NAME##*-} does not join: $(tail -n 5 "$STACK_DIR/db/db.log")"
}

db_come_back() {
	db_join
	db_await_synced
}

db_first() {
	# shellcheck disable=SC2034 # Of stack_db.sh.
	DB_OPTIONS=(--wsrep-new-cluster)
	db_launch
	db_await
	db_await_synced
}

# ---- broker

# One epmd for the three, started by the first.
broker_join() {
	local first=$STACK_ROOT/.stack/$CLUSTER-1
	use_broker_env
	[[ $STACK_DIR == "$first" ]] || cp "$first/epmd.pid" "$STACK_DIR/epmd.pid"
	broker_running || broker_launch
}

broker_come_back() {
	broker_join
	broker_await
}

broker_cluster_size() { broker_eval 5 'length(rabbit_nodes:all_running())' 2>/dev/null | grep -oE '[0-9]+'; }
broker_has_size() { [[ $(broker_cluster_size) == "$1" ]]; }

# The node that leads a quorum queue, or has a classic one: broker_home QUEUE.
broker_home() {
	broker_eval 5 "{ok, Q} = rabbit_amqqueue:lookup(rabbit_misc:r(<<\"lapse\">>, queue, <<\"$1\">>)),
		case amqqueue:get_pid(Q) of {_, N} -> N; P -> node(P) end" 2>/dev/null |
		sed -n "s/.*'lapse-$CLUSTER-\([0-9]\)@localhost'.*/\1/p"
}

# How many queues of lapse have not three members; the parked queue is classic.
broker_small_queues() {
	broker_eval 10 'length([1 || Q <- rabbit_amqqueue:list(<<"lapse">>),
		amqqueue:get_type(Q) =:= rabbit_quorum_queue,
		length(maps:get(nodes, amqqueue:get_type_state(Q))) =/= 3])' | grep -oE '[0-9]+'
}

# Into the due queue, as a mistaken program would: what names no order.
broker_send_rubbish() {
	broker_eval 5 'rabbit_basic:publish(rabbit_misc:r(<<"lapse">>, exchange, <<"">>), <<"lapse.timeout.due">>,
		[{delivery_mode, 2}, {message_id, <<"rubbish">>}], <<"rubbish">>)' >/dev/null
}

broker_parked() { # FUNCTION: stat or purge
	broker_eval 10 "{ok, Q} = rabbit_amqqueue:lookup(rabbit_misc:r(<<\"lapse\">>, queue, <<\"lapse.parked\">>)),
		element(2, rabbit_amqqueue:$1(Q))" | grep -oE '[0-9]+'
}

broker_count_parked() { broker_parked stat; }
broker_take_parked() { broker_parked purge; }

broker_led_queues() {
	broker_eval 10 'length([1 || Q <- rabbit_amqqueue:list(<<"lapse">>),
		amqqueue:get_type(Q) =:= rabbit_quorum_queue, element(2, amqqueue:get_pid(Q)) =:= node()])' |
		grep -oE '[0-9]+'
}

# ---- the balancer: one writer that others stand behind, all of them, and the brokers

proxy_write_settings() {
	local dir=$STACK_DIR n
	cat >"$dir/check.cnf" <<-SETTINGS
		[client]
		user = lapse_check
		password = ${STATE[check_password]}
	SETTINGS
	cat >"$dir/check-db" <<-CHECK
		#!/bin/sh
		# HAProxy asks with the address of the balancer and of the node: is it a synced member of the majority?
		status=\$(mariadb --defaults-file='$dir/check.cnf' --connect-timeout=2 -h "\$3" -P "\$4" -N -B \\
			-e "SHOW STATUS WHERE Variable_name IN ('wsrep_local_state', 'wsrep_cluster_status')" | tr '\\t\\n' '  ')
		# 4: synced; 2: gives its state to one that joins, and takes writes all the same.
		case \$status in *'cluster_status Primary '*) ;; *) exit 1 ;; esac
		case \$status in *'local_state 4 '* | *'local_state 2 '*) ;; *) exit 1 ;; esac
	CHECK
	chmod 700 "$dir/check-db"
	{
		cat <<-SETTINGS
			global
			    external-check
			    insecure-fork-wanted
			    stats socket $(proxy_socket) mode 600 level admin
			defaults
			    mode tcp
			    timeout connect 2s
			    timeout client 90s
			    timeout server 90s
			    timeout check 3s
			    option redispatch
			    default-server inter 1s fall 2 rise 2 on-marked-down shutdown-sessions
			listen writer
			    bind 127.0.0.1:${STATE[writer_port]}
			    stick-table type integer size 100
			    stick on int(1)
			    timeout connect 4s
			    default-server inter 3s fastinter 2s fall 2 rise 2 on-marked-down shutdown-sessions
			    option external-check
			    external-check path "$PATH"
			    external-check command $dir/check-db
		SETTINGS
		for n in "${NODES[@]}"; do
			echo "    server node-$n 127.0.0.1:$(node_value "$n" db_port) check$( ((n == 1)) || echo ' backup')"
		done
		printf 'listen all\n    bind 127.0.0.1:%s\n    balance roundrobin\n' "${STATE[all_port]}"
		for n in "${NODES[@]}"; do
			echo "    server node-$n 127.0.0.1:$(node_value "$n" db_port) track writer/node-$n"
		done
		# A frozen broker still has its port open, so it must say something.
		cat <<-SETTINGS
			listen brokers
			    bind 127.0.0.1:${STATE[amqp_port]}
			    balance leastconn
			    option tcp-check
			    tcp-check send-binary 414d515000000901
			    tcp-check expect binary 010000
		SETTINGS
		for n in "${NODES[@]}"; do
			echo "    server node-$n 127.0.0.1:$(node_value "$n" amqp_port) check"
		done
	} >"$dir/haproxy.cfg"
}

proxy_socket() { echo "${STATE[socket_dir]:-$STACK_DIR}/haproxy.sock"; }
proxy_ask() { socat -t 2 - "UNIX-CONNECT:$(proxy_socket)" <<<"$1"; }
# proxy_shows BACKEND NODE STATUS
proxy_shows() { proxy_ask 'show stat' | grep -q "^$1,node-$2,.*,$3"; }

proxy_start() {
	proxy_write_settings
	launch proxy "$STACK_DIR/haproxy.log" haproxy -f "$STACK_DIR/haproxy.cfg" -db
}

# The node behind the one port of the writer.
db_writer() {
	local port n
	port=$(sql 'SELECT @@port')
	for n in "${NODES[@]}"; do
		[[ $(node_value "$n" db_port) != "$port" ]] || echo "$n"
	done
}

# ---- all of it

cluster_up() {
	local n
	for n in "${NODES[@]}"; do node_make "$n"; done
	on_each node_join_settings
	choose_ports writer_port all_port amqp_port
	STATE["check_password"]=$(random_hex 16)
	STATE["user_password"]=$(node_value 1 user_password)
	if ((${#STACK_DIR} > 85)); then STATE["socket_dir"]=$(mktemp -d /tmp/lapse-stack.XXXXXX); fi
	save_state
	on_each broker_join
	on 1 db_first
	on 1 db_query "CREATE USER lapse_check@'127.0.0.1' IDENTIFIED BY '${STATE[check_password]}'"
	for n in 2 3; do on "$n" db_come_back; done
	on_each broker_await
	proxy_start
}

# Only what is there: an earlier run may have ended at any point.
cluster_down() {
	local n dir
	end_process proxy KILL 5
	for n in 3 2 1; do
		dir=$STACK_ROOT/.stack/$CLUSTER-$n
		[[ -d $dir ]] || continue
		if [[ -f $dir/state ]]; then
			if ((n > 1)); then rm -f "$dir/epmd.pid"; fi
			on "$n" destroy_node
		fi
		rm -rf -- "$dir"
	done
	if [[ ${STATE[socket_dir]:-} == /tmp/lapse-stack.* ]]; then rm -rf -- "${STATE[socket_dir]}"; fi
}

destroy_node() {
	broker_kill
	db_kill
	epmd_stop
	if [[ ${STATE[socket_dir]:-} == /tmp/lapse-stack.* ]]; then rm -rf -- "${STATE[socket_dir]}"; fi
}
