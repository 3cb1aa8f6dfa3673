#!/usr/bin/env bash
# layers.sh - who may include whom: the layers, no cycles, and one place for each library.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

# All sources that exist or are about to: "file line header", quotes or angles kept.
includes() {
	git ls-files -co --exclude-standard -- '*.c' '*.h' |
		xargs -r grep -Hn '^[[:space:]]*#[[:space:]]*include' |
		sed -E 's/^([^:]+):([0-9]+):[[:space:]]*#[[:space:]]*include[[:space:]]+/\1 \2 /'
}

# The folders a folder may include from. Each program may include itself, all of common/ and what
# CMake generates; the demo programs also demo/shared.
check_layers() {
	awk '
	BEGIN {
		may["common/base"] = "common/base"
		may["common/io"] = may["common/base"] " common/io"
		may["common/order"] = may["common/io"] " common/order"
		may["common/service"] = may["common/io"] " common/service"
		may["common/report"] = may["common/order"] " common/service common/report"
		programs = "producer consumer sweeper retry gateway events console ctl demo/shared demo/stock demo/shop demo/receiver"
		split(programs, list, " ")
		for (i in list)
			may[list[i]] = may["common/report"] " " list[i] (list[i] ~ /^demo/ ? " demo/shared" : "")
		may["bench"] = may["common/report"] " bench"
		may["tests"] = may["common/report"] " " programs " tests"
		wrong = 0
	}
	function folder(path) {
		if (path ~ /^(common|demo)\//) {
			match(path, /^[^\/]+\/[^\/]+/)
			return substr(path, RSTART, RLENGTH)
		}
		sub(/\/.*/, "", path)
		return path
	}
	$3 ~ /^"/ {
		header = $3
		gsub(/"/, "", header)
		if (header == "version.h" || header ~ /_embedded\.h$/)
			next
		own = folder($1)
		other = folder(header)
		if (!(own in may)) {
			print $1 ":" $2 ": folder " own " has no place in the layers"
			wrong = 1
		} else if (index(" " may[own] " ", " " other " ") == 0) {
			print $1 ":" $2 ": " own " must not include " header
			wrong = 1
		} else if (header !~ /\//) {
			print $1 ":" $2 ": include paths start at the top of the tree: " header
			wrong = 1
		}
	}
	END { exit wrong }'
}

# A library belongs to one module, which may have parts: common/io/db.c, common/io/db_internal.h.
# Tests look at the servers with instruments of their own.
check_libraries() {
	awk '
	BEGIN {
		place["amqp"] = "^(common/io/broker|tests/support/rabbit)"
		place["rabbitmq-c"] = place["amqp"]
		place["mysql"] = "^(common/io/db|tests/support/query)"
		place["mariadb"] = place["mysql"]
		place["curl"] = "^common/io/http(_[a-z]+)?\\.[ch]$"
		place["microhttpd"] = "^common/io/httpd"
		place["jansson"] = "^common/io/json"
		place["openssl"] = "^common/io/signature"
		place["crypt"] = "^common/io/password"
		place["check"] = "^tests/"
		place["pthread"] = "^(common/service/|tests/)"
		wrong = 0
	}
	$3 ~ /^</ {
		for (library in place)
			if ($3 ~ ("^<" library "[a-z_]*([/.])") && $1 !~ place[library] && $1 !~ /^bench\//) {
				print $1 ":" $2 ": " $3 " belongs to " place[library]
				wrong = 1
			}
	}
	END { exit wrong }'
}

# Include guards hide a header that includes itself through others; tsort does not.
check_cycles() {
	local loops
	loops=$(sed -nE 's/^([^ ]+\.h) [0-9]+ "([^"]+)".*/\1 \2/p' | tsort 2>&1 >/dev/null) || true
	[[ -z $loops ]] && return 0
	printf 'headers in a circle:\n%s\n' "$loops"
	return 1
}

list=$(mktemp)
trap 'rm -f "$list"' EXIT
includes >"$list"
status=0
check_layers <"$list" || status=1
check_libraries <"$list" || status=1
check_cycles <"$list" || status=1
exit "$status"
