#!/usr/bin/env bash
# builds.sh - every warning of every compiler is an error: clang, gcc with its analyzer, gcc as
# released; and the modules that use threads, under the thread sanitizer.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

jobs=$(nproc)

status=0

# Silent but for findings; goes on, so that one run tells everything.
build() {
	local preset=$1
	shift
	cmake --preset "$preset" "$@" >/dev/null &&
		nice cmake --build --preset "$preset" -- -j"$jobs" -k0 |
		{ grep -vE '^\[[0-9]+/|^ninja: no work' || true; } || status=1
}

build clang
build analyzer
build release -DLAPSE_WERROR=ON
build tsan
ctest --test-dir build/tsan -L '^threads$' --output-on-failure --no-tests=error || status=1
exit "$status"
