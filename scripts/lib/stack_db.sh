# shellcheck shell=bash
# Part of scripts/stack: the private MariaDB.
# Guarantees: a commit is on disk when it is answered, as in production; root and lapse have
# passwords of their own and may come from loopback only.

# A Unix socket's path has room for 107 characters; a checkout deep in the file system gets a
# folder in /tmp for the socket alone.
db_socket() { echo "${STATE[socket_dir]:-$STACK_DIR/db}/mysql.sock"; }

db_create() {
	need mariadb-install-db
	need mariadb
	local dir=$STACK_DIR/db
	mkdir -p "$dir/tmp"
	if ((${#dir} > 90)); then
		STATE[socket_dir]=$(mktemp -d /tmp/lapse-stack.XXXXXX)
	fi
	STATE["root_password"]=$(random_hex 16)
	save_state
	db_write_settings "$dir"
	local as=()
	[[ $(id -u) != 0 ]] || as=(--user=root)
	# Without --skip-name-resolve it wants a host name that can be looked up.
	mariadb-install-db --no-defaults --datadir="$dir/data" --skip-test-db --skip-name-resolve \
		--auth-root-authentication-method=normal "${as[@]}" >"$dir/install.log" 2>&1 9>&- ||
		die "mariadb-install-db failed: $(tail -n 3 "$dir/install.log")"
}

# The transaction isolation and the sql_mode stay at the server's defaults: what the programs
# need, they set for their own sessions, and tests must see it if they forget.
# The binary log is off as in MariaDB's own default; --binlog shows what MySQL 8 would do.
db_write_settings() {
	local dir=$1
	{
		cat <<-SETTINGS
			[mariadbd]
			datadir = $dir/data
			tmpdir = $dir/tmp
			socket = $(db_socket)
			pid-file = $dir/server.pid
			log-error = $dir/db.log
			bind-address = 127.0.0.1
			port = ${STATE[db_port]}
			ssl-ca = $(tls_file authority.pem)
			ssl-cert = $(tls_file server.pem)
			ssl-key = $(tls_file server.key)
			skip-name-resolve
			character-set-server = utf8mb4
			max-connections = 500
			innodb-flush-log-at-trx-commit = 1
			innodb-buffer-pool-size = ${STATE[buffer_pool]}
			innodb-log-file-size = ${STATE[log_file_size]}
		SETTINGS
		if [[ ${STATE[binlog]} == 1 ]]; then
			# The migrations create a trigger as an ordinary user, hence the last line.
			cat <<-SETTINGS
				log-bin = binlog
				sync-binlog = 1
				binlog-format = ROW
				server-id = 1
				log-bin-trust-function-creators = 1
			SETTINGS
		fi
	} >"$dir/server.cnf"
	cat >"$dir/client.cnf" <<-SETTINGS
		[client]
		user = root
		password = ${STATE[root_password]}
		socket = $(db_socket)
	SETTINGS
	# Carried out at the first start, before the first connection is taken, so a server without
	# passwords is never to be reached. May run twice. One statement per line: the server reads
	# it so. Tests make databases of their own, named lapse_...; ALL on the pattern lets them.
	cat >"$dir/init.sql" <<-SQL
		DELETE FROM mysql.proxies_priv;
		DELETE FROM mysql.global_priv WHERE User = '' OR (User = 'root' AND Host <> 'localhost');
		FLUSH PRIVILEGES;
		ALTER USER root@localhost IDENTIFIED BY '${STATE[root_password]}';
		CREATE DATABASE IF NOT EXISTS lapse CHARACTER SET utf8mb4;
		CREATE USER IF NOT EXISTS lapse@'127.0.0.1' IDENTIFIED BY '${STATE[user_password]}';
		CREATE USER IF NOT EXISTS lapse@localhost IDENTIFIED BY '${STATE[user_password]}';
		GRANT ALL ON \`lapse%\`.* TO lapse@'127.0.0.1';
		GRANT ALL ON \`lapse%\`.* TO lapse@localhost;
	SQL
}

db_running() { live_process "$(pid_file db)" >/dev/null; }

# More options of the server, for the next start.
DB_OPTIONS=()

db_launch() {
	need mariadbd
	local dir=$STACK_DIR/db options=("${DB_OPTIONS[@]}")
	# The server refuses to run as root unless told so.
	[[ $(id -u) != 0 ]] || options+=(--user=root)
	[[ ! -f $dir/init.sql ]] || options+=(--init-file="$dir/init.sql")
	launch db "$dir/db.log" mariadbd --defaults-file="$dir/server.cnf" "${options[@]}"
}

db_answers() {
	mariadb --defaults-file="$STACK_DIR/db/client.cnf" --connect-timeout=2 -e 'SELECT 1' >/dev/null 2>&1
}

db_await() {
	await 60 db db_answers || die "MariaDB did not start: $(tail -n 5 "$STACK_DIR/db/db.log")"
	rm -f "$STACK_DIR/db/init.sql"
}

db_start() {
	if db_running; then
		note "MariaDB is already running"
		return 0
	fi
	db_launch
	db_await
}

db_stop() { end_process db TERM 60; }

db_kill() { end_process db KILL 10; }

db_client() {
	need mariadb
	exec mariadb --defaults-file="$STACK_DIR/db/client.cnf" "$@"
}

db_describe() { describe_process db mariadb "127.0.0.1:${STATE[db_port]}"; }
