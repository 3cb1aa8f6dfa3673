#!/usr/bin/env bash
# documents.sh - what documents say and a machine can compare: commands, links, examples, events.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

status=0

finding() {
	printf '%s\n' "$*"
	status=1
}

mapfile -t documents < <(git ls-files -co --exclude-standard -- '*.md')

# The code blocks of a document, one after the other.
blocks() { awk '/^[[:space:]]*```/ { inside = !inside; next } inside' "$1"; }

# Two languages, the same commands; comments behind a command may be translated.
commands() { blocks "$1" | sed -E 's/[[:space:]]+#.*$//; s/^#.*$//' | grep -v '^[[:space:]]*$' || true; }
if [[ -f README.md || -f README.zh-CN.md ]]; then
	for file in README.md README.zh-CN.md; do
		if [[ ! -f $file ]]; then
			finding "$file is missing"
		elif (($(wc -l <"$file") > 100)); then
			finding "$file: more than 100 lines"
		fi
	done
	if [[ -f README.md && -f README.zh-CN.md ]]; then
		diff <(commands README.md) <(commands README.zh-CN.md) ||
			finding "README.md and README.zh-CN.md have different commands"
	fi
	grep -qE '^\$?[[:space:]]*scripts/test$' README.md || finding "README.md: scripts/test is not shown as a command"
fi

# A link inside the repository leads to something that is there.
for document in "${documents[@]}"; do
	folder=$(dirname "$document")
	while IFS= read -r link; do
		target=${link%%#*}
		[[ -n $target && $target != *://* && $target != mailto:* ]] || continue
		[[ -e $folder/$target ]] || finding "$document: $link leads nowhere"
	done < <(awk '/^[[:space:]]*```/ { inside = !inside; next } !inside' "$document" |
		grep -oE '\]\([^) ]+\)' | sed -E 's/^\]\((.*)\)$/\1/' || true)
done

# Examples on the wire are test data: each JSON block of these documents is a file there.
squeeze() { tr -d ' \t\r\n'; }
if [[ -f docs/messages.md || -f docs/api.md ]]; then
	data=$(for file in tests/data/*.json; do
		[[ -e $file ]] && squeeze <"$file" && echo
	done || true)
	for document in docs/messages.md docs/api.md; do
		[[ -f $document ]] || continue
		while IFS= read -r example; do
			grep -qxF -e "$example" <<<"$data" || finding "$document: not in tests/data/: ${example:0:70}"
		done < <(awk '
			/^[[:space:]]*```json/ { inside = 1; text = ""; next }
			/^[[:space:]]*```/ { if (inside) print text; inside = 0; next }
			inside { gsub(/[ \t\r]/, ""); text = text $0 }' "$document")
	done
fi

# Whoever is woken by an error event or an alert finds it in the runbook.
if [[ -f docs/runbook.md ]]; then
	for event in $(git ls-files -co --exclude-standard -- 'common/*.c' '*/*.c' | grep -v '^tests/' |
		xargs grep -hoE 'log_error\(log_event\("[a-z_]+"\)' | grep -oE '"[a-z_]+"' | tr -d '"' | sort -u); do
		grep -qF "$event" docs/runbook.md || finding "docs/runbook.md: no entry for the event $event"
	done
	while IFS= read -r kind; do
		grep -qF "$kind" docs/runbook.md || finding "docs/runbook.md: no entry for the alert $kind"
	done < <(sed -nE "s/^[[:space:]]*kind[[:space:]]+ENUM\(([^)]*)\).*/\1/p" schema/*alert*.sql |
		tr -d "'" | tr , '\n')
fi

# The document of the schema knows every table.
if [[ -f schema/README.md ]]; then
	while read -r table; do
		grep -qF "$table" schema/README.md || finding "schema/README.md: no word about $table"
	done < <(grep -hoE 'CREATE TABLE IF NOT EXISTS t_[a-z_]+' schema/*.sql | awk '{ print $NF }')
fi
exit "$status"
