#!/usr/bin/env bash
# sabotage.sh [NAME...]: breaks one line of the source at a time and expects a test to notice.
#
# The mutations are in tests/sabotage.list: a text of a source, what takes its place, and the tests that
# should fail then. All of it happens in a copy of the tree under build/sabotage/, with servers of its
# own. It takes a minute or so for each and is no part of scripts/test: it tests the tests. Status 1: a
# mutation went unnoticed, or its text is not in the source any more.
# shellcheck disable=SC2317 # stop_servers runs in a trap.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

readonly SOURCE=$PWD
readonly TREE=$PWD/build/sabotage
readonly LIST=$TREE/tests/sabotage.list
readonly STACK=sabotage

say() { printf '%s\n' "$*"; }

# Only what differs is copied, so that the next run builds little. It also undoes what an earlier run left.
copy_tree() {
	mkdir -p "$TREE"
	(cd "$SOURCE" && git ls-files -co --exclude-standard) | while IFS= read -r file; do
		[[ -f $SOURCE/$file ]] || continue
		cmp -s "$SOURCE/$file" "$TREE/$file" && continue
		mkdir -p "$(dirname "$TREE/$file")"
		cp "$SOURCE/$file" "$TREE/$file"
	done
}

# The fields of a mutation: value NAME KEY.
value() {
	awk -v name="$1" -v key="$2" '$1 == "mutation" { inside = $2 == name }
		inside && $1 == key { sub(/^[a-z]+[ \t]+/, ""); print; exit }' "$LIST"
}

# The sources of a mutation, kept while they are broken: whoever works on the tree meanwhile is not in the way.
files() { awk -v name="$1" '$1 == "mutation" { inside = $2 == name } inside && $1 == "file" { print $2 }' "$LIST"; }

keep() {
	local file
	for file in $(files "$1"); do cp "$file" "$file.kept"; done
}

restore() {
	local file
	for file in $(files "$1"); do
		cp "$file.kept" "$file"
		rm "$file.kept"
	done
}

names() { awk '$1 == "mutation" { print $2 }' "$LIST"; }

# Each text must be there exactly once.
mutate() { perl tests/checks/lib/mutate.pl "$LIST" "$1"; }

# The programs, and the test programs whose names match.
build() {
	local targets=()
	mapfile -t targets < <(
		sed -nE 's/^add_executable\((lapse[a-z-]*).*/\1/p' ./*/CMakeLists.txt demo/*/CMakeLists.txt
		ctest --test-dir build/debug -N -R "$1" | sed -nE 's/^ *Test +#[0-9]+: ([a-z0-9_]+)\.([a-z0-9_]+)$/\1_\2/p'
	)
	nice cmake --build --preset debug --target "${targets[@]}" -- -j"$(nproc)" >build.log 2>&1
}

# Also which tests failed, for the report.
run_tests() {
	ctest --test-dir build/debug -R "$1" -j "$(nproc)" --stop-on-failure >tests.log 2>&1 && return 0
	sed -nE 's/^.*Test +#[0-9]+: ([a-z0-9_.]+) .*(Failed|Timeout|Exception).*/\1/p' tests.log | sort -u | tr '\n' ' '
	return 1
}

try_mutation() {
	local name=$1 tests noticed started=$SECONDS
	tests=$(value "$name" tests)
	keep "$name"
	if ! mutate "$name" 2>mutation.log; then
		say "$name: does not apply: $(cat mutation.log)"
		return 1
	fi
	if ! build "$tests"; then
		say "$name: does not build: $(grep -m 1 'error:' build.log || tail -n 1 build.log)"
		return 1
	fi
	if noticed=$(run_tests "$tests"); then
		say "$name: UNNOTICED by $tests: $(value "$name" what)"
		return 1
	fi
	say "$name: noticed by ${noticed:-$tests }after $((SECONDS - started)) s"
}

stop_servers() { scripts/stack --name "$STACK" down >/dev/null 2>&1 || true; }

copy_tree
cd "$TREE"
wanted=("$@")
if ((${#wanted[@]} == 0)); then mapfile -t wanted < <(names); fi
all=''
for name in "${wanted[@]}"; do
	tests=$(value "$name" tests)
	if [[ -z $tests ]]; then
		say "there is no mutation $name in tests/sabotage.list"
		exit 64
	fi
	all+=${all:+|}$tests
done

cmake --preset debug >build.log
trap stop_servers EXIT
scripts/stack --name "$STACK" up --test-delay-exchange >stack.log 2>&1
eval "$(scripts/stack --name "$STACK" env)"
if ! build "$all" || ! noticed=$(run_tests "$all"); then
	say "without any mutation: ${noticed:-the build} failed; see $TREE/build.log and tests.log"
	exit 1
fi
status=0
for name in "${wanted[@]}"; do
	try_mutation "$name" || status=1
	restore "$name"
done
exit "$status"
