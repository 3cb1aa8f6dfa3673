#!/usr/bin/env bash
# tidy.sh [--all] - clang-tidy over every source file, two at a time.
#
# A file that was clean is not looked at again before it, a header of it or the rules change: the
# proof is the hash of the preprocessed file, kept under build/tidy/. --all looks at all files.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

readonly PROOFS=build/tidy
readonly COMMANDS=build/tidy/compile_commands.json

if [[ ${1:-} == --all ]]; then rm -rf "$PROOFS"; fi
mkdir -p "$PROOFS"
# The commands of the build with tests, whichever preset made it last.
newest=
for preset in debug asan; do
	file=build/$preset/compile_commands.json
	if [[ -e $file && (-z $newest || $file -nt $newest) ]]; then newest=$file; fi
done
[[ -n $newest ]] || {
	echo "no compile_commands.json; run: cmake --preset debug"
	exit 1
}
cp "$newest" "$COMMANDS"
rules=$(cat .clang-tidy tests/.clang-tidy <(clang-tidy --version) | sha256sum)
export PROOFS rules

# check_one FILE COMMAND: silent when clean.
check_one() {
	local file=$1 command=$2 proof findings
	# Everything but what the compiler is to write, and without optimizing or sanitizing.
	command=$(sed -E 's/ -o [^ ]+//; s/ -M[A-Z]* [^ ]+//g; s/ -MD//; s/ -fsanitize=[^ ]+//g' <<<"$command")
	# CMake quotes for a shell, so a shell has to read it.
	proof=$PROOFS/$({ echo "$rules"; eval "${command/ -c / -E }"; } | sha256sum | cut -c1-40)
	[[ ! -e $proof ]] || return 0
	if findings=$(clang-tidy -p "$PROOFS" --quiet "$file" 2>/dev/null); then
		: >"$proof"
		return 0
	fi
	printf '%s\n' "$findings"
	return 1
}
export -f check_one

jq -r '.[] | select(.file | endswith(".c")) | .file, .command' "$COMMANDS" |
	xargs -d '\n' -n 2 -P 2 bash -c 'check_one "$@"' check_one
