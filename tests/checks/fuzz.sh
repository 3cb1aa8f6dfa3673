#!/usr/bin/env bash
# fuzz.sh [NAME...]: every parser of outside bytes against the fuzzer, some seconds each.
#
# FUZZ_SECONDS: how long for each (default 20; a nightly run takes 600). What was found before is kept
# in build/fuzz/corpus/ and tried again first; what breaks a target, in build/fuzz/found/.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

readonly BUILD=build/fuzz
readonly OPTIONS=(-max_len=8192 -timeout=10 -rss_limit_mb=1024 -verbosity=0 -print_final_stats=0)
seconds=${FUZZ_SECONDS:-20}

cmake --preset fuzz >/dev/null
nice cmake --build --preset fuzz -- -j"$(nproc)" |
	{ grep -vE '^\[[0-9]+/|^ninja: no work' || true; }
mkdir -p "$BUILD/found"

# The first folder is the one the fuzzer adds to.
fuzz() {
	local name=$1 folders=("$BUILD/corpus/$1" tests/data)
	if [[ -d tests/fuzz/seeds/${name#fuzz_} ]]; then folders+=("tests/fuzz/seeds/${name#fuzz_}"); fi
	mkdir -p "$BUILD/corpus/$name"
	nice "$BUILD/targets/$name" "${OPTIONS[@]}" -max_total_time="$seconds" \
		-artifact_prefix="$BUILD/found/$name-" "${folders[@]}" >"$BUILD/$name.log" 2>&1 && return 0
	printf '%s: broken, the input is in %s\n%s\n' "$name" "$BUILD/found" "$(tail -n 30 "$BUILD/$name.log")"
	return 1
}

names=("$@")
if ((${#names[@]} == 0)); then mapfile -t names < <(basename -s .c tests/fuzz/fuzz_*.c); fi
status=0
for name in "${names[@]}"; do
	while (($(jobs -rp | wc -l) >= $(nproc))); do wait -n || status=1; done
	fuzz "$name" &
done
while (($(jobs -p | wc -l) > 0)); do wait -n || status=1; done
exit "$status"
