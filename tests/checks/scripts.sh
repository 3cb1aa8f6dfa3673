#!/usr/bin/env bash
# scripts.sh - shellcheck on every script: by ending, or by its first line.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

mapfile -t scripts < <(git ls-files -co --exclude-standard | while IFS= read -r file; do
	[[ -f $file ]] || continue
	if [[ $file == *.sh ]] || head -c 64 -- "$file" | head -n 1 | grep -aqE '^#!.*\b(ba)?sh\b'; then
		printf '%s\n' "$file"
	fi
done)
shellcheck -x -P scripts/lib -P SCRIPTDIR "${scripts[@]}"
