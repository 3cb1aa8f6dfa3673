#!/usr/bin/env bash
# rules.sh - Prometheus rules and dashboard: correct by promtool, each alert with its entry in the
# runbook, each metric one of docs/metrics.md.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

readonly RULES=deploy/prometheus/rules.yml
readonly TESTS=deploy/prometheus/rules_test.yml
readonly DASHBOARD=deploy/grafana/dashboards/lapse.json
status=0

finding() {
	printf '%s\n' "$*"
	status=1
}

if command -v promtool >/dev/null; then
	promtool check rules "$RULES" >/dev/null || finding "$RULES: promtool check rules"
	promtool test rules "$TESTS" || finding "$TESTS: promtool test rules"
	# The address of the runbook comes from the environment of Prometheus.
	promtool check config --syntax-only deploy/prometheus/prometheus.yml >/dev/null ||
		finding "deploy/prometheus/prometheus.yml: promtool check config"
else
	finding "there is no promtool: run scripts/setup"
fi

alerts=$(sed -nE 's/^[[:space:]]*- alert: ([A-Za-z]+)$/\1/p' "$RULES")
raised=$(grep -oE '"Lapse[A-Z][A-Za-z]+"' common/order/alert*.c | grep -oE 'Lapse[A-Za-z]+' | sort -u)
for alert in $alerts; do
	block=$(awk -v name="$alert" '/- alert: / { inside = $3 == name } inside' "$RULES")
	for key in summary description runbook_url; do
		grep -q "^ *$key: " <<<"$block" || finding "$RULES: $alert has no $key"
	done
	grep -qF "runbook_url }}#$alert\"" <<<"$block" || finding "$RULES: $alert links to another section"
	grep -qx "### $alert" docs/runbook.md || finding "docs/runbook.md: no section $alert"
	fires=$(awk -v name="$alert" '/alertname: / { inside = $2 == name } inside && /exp_labels/' "$TESTS")
	rests=$(awk -v name="$alert" '/alertname: / { inside = $2 == name } inside && /exp_alerts: \[\]/' "$TESTS")
	[[ -n $fires ]] || finding "$TESTS: $alert never fires"
	[[ -n $rests || $alert == LapseBlind ]] || finding "$TESTS: $alert never rests"
done
while IFS= read -r section; do
	grep -qx "$section" <<<"$alerts"$'\n'"$raised" || finding "docs/runbook.md: nothing raises $section"
done < <(sed -nE 's/^### (Lapse[A-Z][A-Za-z]+)$/\1/p' docs/runbook.md)

# Every metric that is asked for is exported: the list of docs/metrics.md is held against the programs by a test.
# shellcheck disable=SC2016 # Backquotes of the document.
known=$(sed -nE 's/^\| `([a-z_]+)`.*/\1/p' docs/metrics.md | sort -u)
recorded=$(sed -nE 's/^[[:space:]]*- record: (.*)$/\1/p' "$RULES")
asked=$(grep -hoE '\b(lapse|process)_[a-z_]+|\blapse:[a-z0-9_:]+' "$RULES" "$DASHBOARD" | sort -u)
for name in $asked; do
	[[ $name == lapse_recorded ]] && continue # the name of a group
	base=$(sed -E 's/_(bucket|sum|count)$//' <<<"$name")
	grep -qxF -e "$name" -e "$base" <<<"$known"$'\n'"$recorded" ||
		finding "rules or dashboard: $name is not exported"
done

jq -e '.id == null and .uid != "" and (has("__inputs") | not)
	and ([.templating.list[].name] | index("datasource") != null)' "$DASHBOARD" >/dev/null ||
	finding "$DASHBOARD: id, uid or variable is wrong"
jq -e '[.panels[] | select(.type != "row") | .datasource.uid, .targets[].datasource.uid]
	| all(. == "${datasource}")' "$DASHBOARD" >/dev/null ||
	finding "$DASHBOARD: a panel has another data source"
exit "$status"
