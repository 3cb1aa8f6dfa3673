# shellcheck shell=bash
# Sourced by the entry point of the MySQL or MariaDB image at the first start on an empty volume:
# makes the schema and one user per program. What each may do, `lapsectl migrate` grants later.
#
# Names and passwords come from the same secret files that the programs read:
# mysql://user:password@host:port/schema
#
# On a server without containers, as its administrator:
#     SECRETS_DIR=/etc/lapse/secrets bash 10-users.sh

if ! declare -F docker_process_sql >/dev/null; then
	set -euo pipefail
	docker_process_sql() { "$(command -v mariadb || command -v mysql)" "$@"; }
fi

lapse_users() {
	local file url user password schema
	for file in "${SECRETS_DIR:-/run/secrets}"/mysql_url_*; do
		url=$(<"$file")
		url=${url#mysql://}
		user=${url%%:*} password=${url#*:} schema=${url#*@*/}
		password=${password%%@*} schema=${schema%%\?*}
		if [[ ! $user =~ ^[a-z_]+$ || ! $password =~ ^[A-Za-z0-9]+$ || ! $schema =~ ^[a-z0-9_]+$ ]]; then
			printf 'lapse: %s is not mysql://user:password@host:port/schema\n' "$file" >&2
			return 1
		fi
		# shellcheck disable=SC2016 # The quotes of SQL.
		printf 'CREATE DATABASE IF NOT EXISTS `%s` CHARACTER SET utf8mb4;\n' "$schema"
		printf "CREATE USER IF NOT EXISTS '%s'@'%%' IDENTIFIED BY '%s';\n" "$user" "$password"
		# In the name of a schema GRANT takes "_" for any character.
		schema=${schema//_/\\_}
		case $user in
		lapse_migrate)
			printf "GRANT ALL PRIVILEGES ON \`%s\`.* TO '%s'@'%%' WITH GRANT OPTION;\n" "$schema" "$user"
			;;
		lapse_stock) # the demo's product service has a schema of its own
			printf "GRANT ALL PRIVILEGES ON \`%s\`.* TO '%s'@'%%';\n" "$schema" "$user"
			;;
		esac
	done
}

lapse_users | docker_process_sql --database=mysql
unset -f lapse_users
