#!/usr/bin/env bash
# cases.sh - tests/cases.md, tests/acceptance.md: every case and every check has a test, and every
# test they name is where they say.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

TABLE=''
status=0

finding() {
	printf '%s: %s\n' "$TABLE" "$*"
	status=1
}

# "case file test" of each row, one a line; a case without a test has "-" instead.
entries() {
	perl -ne '
		next unless /^\| ([A-Z]+-(?:\d+|all)) \|/;
		my ($case, $file, $count) = ($1, "", 0);
		while (/\]\(([^)]+)\)|`([A-Za-z0-9_]+)`/g) {
			if (defined $1) { $file = $1; next; }
			next if $file eq "";
			print "$case $file $2\n";
			$count++;
		}
		print "$case - -\n" if $count == 0;' "$TABLE"
}

# check_table FILE GROUP:COUNT...: how many each group has; they are numbered from 1.
check_table() {
	local list case file test group number
	TABLE=$1
	shift
	list=$(entries)
	while read -r case file test; do
		if [[ $file == - ]]; then
			finding "$case has no test"
		elif [[ ! -f tests/$file ]]; then
			finding "$case: there is no tests/$file"
		elif [[ $file != *.c ]]; then
			grep -qw "$test" "tests/$file" || finding "$case: tests/$file knows no $test"
		elif ! grep -q "^START_TEST($test)" "tests/$file"; then
			finding "$case: tests/$file has no $test"
		elif ! grep -qE "^[[:space:]]+$test,|\\{ $test \\}" "tests/$file"; then
			finding "$case: tests/$file does not run $test"
		fi
	done <<<"$list"
	for group in "$@"; do
		for ((number = 1; number <= ${group#*:}; number++)); do
			grep -q "^${group%%:*}-$number " <<<"$list" || finding "${group%%:*}-$number is missing"
		done
	done
}

check_table tests/cases.md CS:8 PAY:3 BRK:8 CLI:12 SQL:6 COMP:6 OUT:6 OPS:8
check_table tests/acceptance.md AC:17
exit "$status"
