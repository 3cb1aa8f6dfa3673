#!/bin/bash
# First start on an empty folder: makes the data folder, sets root's password from
# MYSQL_ROOT_PASSWORD_FILE and sources /docker-entrypoint-initdb.d/*.sh, which may call
# docker_process_sql. That server listens on its socket only. Afterwards, and from then on: the
# server alone, as process 1. A first start that was broken off begins anew.
set -eo pipefail

readonly DATA=/var/lib/mysql SOCKET=/run/mysqld/mysqld.sock
readonly MARK=$DATA/.made

case ${1:-} in -* | '') set -- mariadbd "$@" ;; esac

say() { printf 'entrypoint: %s\n' "$*" >&2; }

docker_process_sql() {
	MYSQL_PWD=$root_password mariadb --protocol=socket --socket="$SOCKET" -uroot "$@"
}

answers() { docker_process_sql -e 'SELECT 1' >/dev/null 2>&1; }

first_start() {
	local root_password='' file server i
	say "making the data folder"
	find "$DATA" -mindepth 1 -delete
	mariadb-install-db --datadir="$DATA" --skip-test-db --skip-name-resolve \
		--auth-root-authentication-method=normal >/dev/null
	"$@" --skip-networking --socket="$SOCKET" &
	server=$!
	for ((i = 0; i < 600; i++)); do
		if answers; then break; fi
		kill -0 "$server"
		sleep 0.1
	done
	file=${MYSQL_ROOT_PASSWORD_FILE:?must name the file with the password of root}
	docker_process_sql -e "ALTER USER 'root'@'localhost' IDENTIFIED BY '$(<"$file")';
		DELETE FROM mysql.global_priv WHERE User = ''; FLUSH PRIVILEGES"
	root_password=$(<"$file")
	for file in /docker-entrypoint-initdb.d/*.sh; do
		[[ -e $file ]] || continue
		say "sourcing $file"
		# shellcheck disable=SC1090 # Whatever the user put there.
		. "$file"
	done
	kill "$server"
	wait "$server"
	: >"$MARK"
	say "ready for its real start"
}

if [[ ! -e $MARK ]]; then first_start "$@"; fi
exec "$@"
