#!/usr/bin/env bash
# compose.sh - docker-compose.yml and the images: the rules a reader would look for, and the file
# as compose reads it, where there is a compose. scripts/compose-check starts it all for real.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

readonly FILE=docker-compose.yml
status=0

finding() {
	printf '%s\n' "$*"
	status=1
}

# ---- words that must not be there
forbid() {
	local hits
	hits=$(grep -nE "$1" "${@:3}" | grep -vE '^[^:]*:?[0-9]+:[[:space:]]*#' || true)
	[[ -z $hits ]] || finding "$2:"$'\n'"$hits"
}
forbid '^[[:space:]]*container_name:' "container_name stops a service from being scaled" "$FILE"
forbid '^name:' "docker-compose 1.29 knows no top-level name" "$FILE"
forbid 'start_interval' "docker-compose 1.29 knows no start_interval" "$FILE"
forbid '(LAPSE_INSTANCE|:latest|rabbitmq:4(-management)?[^.0-9]|rabbitmq:management)' \
	"an instance name or a floating tag" "$FILE" Dockerfile deploy/rabbitmq/Dockerfile
forbid '(password|secret|token)[A-Z_]*: *[^/$ {]*[A-Za-z0-9]{8}' "a secret stands in the file" "$FILE"
forbid '\$\{LAPSE_' "a variable of compose must not begin with LAPSE_" "$FILE"

# Each image has a version.
while IFS= read -r image; do
	[[ $image == *:* && $image != *: ]] || finding "$FILE: image $image has no tag"
done < <(sed -nE 's/^[[:space:]]*image:[[:space:]]*([^[:space:]#]+).*/\1/p' "$FILE" |
	sed -E 's/\$\{[A-Z_]+:-([^}]*)\}/\1/g')

# ---- secrets: all that are mounted are made, and nobody but their owner finds them
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
SECRETS_DIR=$folder/secrets scripts/secrets >/dev/null
while IFS= read -r name; do
	[[ -f $folder/secrets/$name ]] || finding "scripts/secrets does not make $name"
	grep -qE "[[ -] *$name\b" <(sed '/^secrets:/,$d' "$FILE") || finding "$FILE: nobody mounts $name"
done < <(sed -n '/^secrets:/,$p' "$FILE" | sed -nE 's/^  ([a-z_]+):.*/\1/p')
[[ $(stat -c %a "$folder/secrets") == 700 ]] || finding "scripts/secrets: the folder is not 0700"
find "$folder/secrets" -type f ! -perm 444 ! -name webhooks ! -name alerts -printf 'scripts/secrets: %f is not 0444\n' |
	grep . && status=1
before=$(cd "$folder/secrets" && sha256sum ./*)
SECRETS_DIR=$folder/secrets scripts/secrets >/dev/null
[[ $before == "$(cd "$folder/secrets" && sha256sum ./*)" ]] || finding "scripts/secrets: a second run changes secrets"
if command -v jq >/dev/null; then
	jq -e '(.users | map(.name)) as $users | ($users | index("guest") | not)
		and ($users | sort) == (.permissions | map(.user) | sort)' \
		"$folder/secrets/rabbitmq_definitions" >/dev/null ||
		finding "scripts/secrets: the definitions are not as wanted"
fi

# ---- the plugin step of the broker's image: right sum, wrong sum, another series
printf 'plugin' >"$folder/plugin"
sum=$(sha256sum "$folder/plugin" | cut -d' ' -f1)
plugin() { RABBITMQ_VERSION=$1 sh deploy/rabbitmq/plugin.sh 4.2.0 "file://$folder/plugin" "$2" "$folder/out$1" >/dev/null 2>&1; }
plugin 4.2.3 "$sum" || finding "plugin.sh refuses a plugin with the right sum"
[[ $(stat -c %a "$folder"/out4.2.3/*.ez) == 444 ]] || finding "plugin.sh: the broker could not read the plugin"
! plugin 4.2.4 "${sum//[0-9]/f}" || finding "plugin.sh takes a plugin with a wrong sum"
plugin 4.3.0 "$sum" || finding "plugin.sh fails on a broker of another series"
[[ -z $(ls "$folder/out4.3.0") ]] || finding "plugin.sh fetches a plugin for a broker of another series"

# ---- an orderly end has the time it needs
seconds() { sed -nE "s/^[[:space:]]*$1[:=] *([0-9]+)s?.*/\1/p" "$2" | sort -n | head -n 1; }
longest=$(seconds LAPSE_SHUTDOWN_TIMEOUT "$FILE")
shortest=$(seconds stop_grace_period "$FILE")
((shortest > longest)) || finding "$FILE: stop_grace_period $shortest s is not above LAPSE_SHUTDOWN_TIMEOUT $longest s"
for unit in deploy/systemd/*.service; do
	stop=$(seconds TimeoutStopSec "$unit")
	[[ $unit == *migrate* ]] || ((${stop:-0} > 25)) || finding "$unit: TimeoutStopSec ${stop:-?} is not above 25 s"
done

# ---- as compose reads it
compose=()
if docker compose version >/dev/null 2>&1; then
	compose=(docker compose)
elif command -v docker-compose >/dev/null; then
	compose=(docker-compose)
fi
if ((${#compose[@]})); then
	cp -r "$FILE" "$folder/"
	(cd "$folder" && COMPOSE_PROFILES=demo,observe,tools "${compose[@]}" -p gate config >"$folder/config" 2>"$folder/errors") ||
		finding "$FILE: $(cat "$folder/errors")"
	for program in consumer producer sweeper retry events; do
		sed -n "/^  $program:/,/^  [a-z]*:/p" "$folder/config" | grep -E '^    (ports|hostname|container_name):' &&
			finding "$FILE: $program could not be scaled"
	done
	sed -n '/^  ctl:/,/^  [a-z]*:/p' "$folder/config" | grep -A1 -E '^    depends_on:$' &&
		finding "$FILE: ctl depends on others, and would start what somebody has stopped"
else
	echo "no docker compose here: the file is not parsed"
fi

# ---- units
if command -v systemd-analyze >/dev/null; then
	mkdir "$folder/units"
	for unit in deploy/systemd/*; do
		sed 's|^ExecStart=/usr/bin/[^ ]*|ExecStart=/bin/true|' "$unit" >"$folder/units/${unit##*/}"
	done
	cp "$folder/units/lapse-consumer@.service" "$folder/units/lapse-consumer@1.service"
	problems=$(SYSTEMD_LOG_LEVEL=warning systemd-analyze verify --man=no "$folder"/units/*.service \
		"$folder/units/lapse.target" 2>&1 | grep -F "$folder/units" || true)
	[[ -z $problems ]] || finding "deploy/systemd: $problems"
else
	echo "no systemd-analyze here: the units are not verified"
fi
exit "$status"
