# shellcheck shell=bash
# Part of scripts/compose-check: the container engine, compose of either kind, ends of containers.
# Uses WORK, TREE, PROJECT, KEEP and note() of the script.

COMPOSE=() ENGINE_PID='' EVENTS_PID=''

# A running engine, or one of our own where dockerd is installed and we may start it.
engine_find() {
	command -v docker >/dev/null || {
		note "skipped: there is no docker"
		return 1
	}
	if docker compose version >/dev/null 2>&1; then
		COMPOSE=(docker compose)
	elif command -v docker-compose >/dev/null; then
		COMPOSE=(docker-compose)
	else
		note "skipped: there is neither docker compose nor docker-compose"
		return 1
	fi
	docker info >/dev/null 2>&1 || engine_start || {
		note "skipped: no container engine answers and none can be started"
		return 1
	}
	# The builder that every engine has.
	export DOCKER_BUILDKIT=0
}

engine_start() {
	local log=$WORK/dockerd.log i
	[[ $(id -u) == 0 ]] && command -v dockerd >/dev/null || return 1
	note "starting dockerd"
	setsid dockerd >"$log" 2>&1 </dev/null &
	ENGINE_PID=$!
	for ((i = 0; i < 60; i++)); do
		if docker info >/dev/null 2>&1; then return 0; fi
		kill -0 "$ENGINE_PID" 2>/dev/null || break
		sleep 1
	done
	tail -n 3 "$log"
	engine_stop
	return 1
}

engine_stop() {
	[[ -n $ENGINE_PID ]] || return 0
	kill "$ENGINE_PID" 2>/dev/null || true
	wait "$ENGINE_PID" 2>/dev/null || true
	ENGINE_PID=''
}

compose() { (cd "$TREE" && "${COMPOSE[@]}" -p "$PROJECT" "$@"); }
compose_quiet() { compose "$@" >>"$WORK/compose.log" 2>&1; }

# The program itself, as root in the database: for counts only.
sql() {
	# shellcheck disable=SC2016 # For the shell in there.
	compose exec -T mysql sh -c 'MYSQL_PWD=$(cat /run/secrets/mysql_root_password) \
		$(command -v mysql || command -v mariadb) -N -uroot lapse -e "$1"' sh "$1" 2>>"$WORK/sql.log"
}

ctl() { compose run --rm -T ctl "$@"; }

containers() { docker ps -aq --filter "label=com.docker.compose.project=$PROJECT" "$@"; }

# await SECONDS CONDITION...
await() {
	local end=$((SECONDS + $1))
	shift
	until "$@" >/dev/null; do
		((SECONDS < end)) || return 1
		sleep 1
	done
}

# Ends of containers, with their exit codes, as the engine tells them.
watch_ends() {
	: >"$WORK/ends"
	docker events --filter event=die --filter "label=com.docker.compose.project=$PROJECT" \
		--format '{{.Actor.Attributes.name}} {{.Actor.Attributes.exitCode}}' >>"$WORK/ends" &
	EVENTS_PID=$!
}

forget_ends() { : >"$WORK/ends"; }

# Of our programs: a server of another maker may answer a signal as it likes.
no_bad_ends() {
	if grep -vE ' 0$|[-_](mysql|rabbitmq)[-_]' "$WORK/ends"; then return 1; fi
	forget_ends
}

down() {
	local begin=$SECONDS
	# Containers of `run` are not in the list of down.
	compose_quiet --profile tools --profile demo down -t 30 "$@" || compose_quiet down -t 30 "$@"
	((SECONDS - begin < 90)) || note "down took $((SECONDS - begin)) s"
}

clean_up() {
	local status=$?
	trap - EXIT
	if ((status != 0 && status != 77 && status != 64)); then
		compose logs --no-color --tail 200 >"$WORK/containers.log" 2>&1 || true
		note "the containers' last words are in ${WORK#"$PWD"/}/containers.log"
	fi
	if [[ -n $EVENTS_PID ]]; then kill "$EVENTS_PID" 2>/dev/null || true; fi
	if ((!KEEP)); then
		down -v || true
		engine_stop
	fi
	exit "$status"
}
